"""Requests in people's own words with the template that fits, to measure template selection.

`TUNED` was used during development of the selection; `UNSEEN` was written at the same time and not used.
"""

from aeond.domain.plans.subtasks import Template

# Twelve kinds of work beside the four that are shipped, each with the words that people have for it.
OTHERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("translate", "Puts a text into another language.", (
        "translate into another language", "say it in Spanish, German, French, English",
        "how do you say this in Italian", "foreign language version, localise", "interpret, translation",
    )),
    ("proofread", "Corrects spelling and grammar.", (
        "proofread a text", "fix typos, spelling mistakes, grammar and punctuation", "correct errors in my writing",
        "check the language of a letter", "orthography, commas, misspelled words",
    )),
    ("write_email", "Writes an e-mail or a letter.", (
        "write an e-mail", "draft a message, reply to a mail", "compose a letter to somebody",
        "answer this mail politely", "formal letter, invitation, apology, complaint",
    )),
    ("review_code", "Looks for mistakes in a program.", (
        "review code", "find bugs in a program", "look over a pull request, patch, diff, commit",
        "is this function correct, safe", "code quality, vulnerabilities, defects in the source",
    )),
    ("explain_error", "Explains an error message and what to do about it.", (
        "explain an error message", "why does it fail, crash, throw an exception", "traceback, stack trace, panic",
        "what does this warning mean", "debug, troubleshoot, fix the problem",
    )),
    ("plan_trip", "Plans a journey.", (
        "plan a trip", "itinerary for a holiday, vacation, journey", "what to see and where to stay in a city",
        "travel route, sights, hotels, trains and flights", "weekend away, tour",
    )),
    ("find_recipe", "Finds something to cook.", (
        "find a recipe", "what can I cook with these ingredients", "dinner, lunch, meal, dish, dessert",
        "bake a cake, bread", "food ideas for the evening, kitchen",
    )),
    ("sort_photos", "Puts pictures into folders.", (
        "sort photos into folders", "organise pictures, images by date or place", "album, gallery, camera roll",
        "tidy up my snapshots", "group the photographs of the holiday",
    )),
    ("track_expenses", "Adds up what was spent.", (
        "track expenses", "how much money did I spend", "add up bills, receipts, invoices, costs",
        "household budget, spending by category", "bank statement, payments of the month",
    )),
    ("schedule", "Finds a time for something and notes it.", (
        "schedule a meeting", "find a free slot in the calendar", "appointment, date, event, reminder",
        "when do we all have time", "move, postpone, book the call",
    )),
    ("write_tests", "Writes tests for a program.", (
        "write unit tests for code", "test cases, coverage, assertions", "check that a function works with pytest",
        "test suite for this module", "regression test for a bug",
    )),
    ("teach", "Explains a subject to a learner.", (
        "teach me a subject", "explain it like I am five, for beginners", "lesson, course, tutorial, introduction",
        "help me learn, understand, study for an exam", "quiz me, exercises, flashcards",
    )),
)  # fmt: skip

TUNED: tuple[tuple[str, str], ...] = (
    ("summarise", "Condense this report to its key points"),
    ("summarise", "What's the gist of the article?"),
    ("summarise", "I have no time to read all that, give me the short version"),
    ("extract", "List every phone number in the letter"),
    ("extract", "pull the invoice totals out of this document"),
    ("extract", "Which people are mentioned here?"),
    ("compare", "what are the differences between these two contracts"),
    ("compare", "Contrast the old policy with the new one"),
    ("compare", "How does the first offer differ from the second?"),
    ("research", "Look through my notes and tell me what I wrote about the garden"),
    ("research", "find out from the documents when the lease ends"),
    ("research", "Search the project folder for why we chose this database"),
    ("translate", "Please render this paragraph in French"),
    ("translate", "What is that in German?"),
    ("proofread", "correct the mistakes in my essay"),
    ("proofread", "Are there typos in here?"),
    ("write_email", "draft a reply to the landlord"),
    ("write_email", "compose a polite complaint to the shop"),
    ("review_code", "Look for bugs in this patch"),
    ("review_code", "is my function safe?"),
    ("explain_error", "why do I get this exception"),
    ("explain_error", "The program crashes with a traceback, what is wrong"),
    ("plan_trip", "three days in Lisbon, what should we see"),
    ("plan_trip", "make an itinerary for our holiday"),
    ("find_recipe", "something to cook with eggs and spinach"),
    ("find_recipe", "ideas for dinner tonight"),
    ("sort_photos", "organise the pictures from last summer"),
    ("sort_photos", "put my images in albums by place"),
    ("track_expenses", "how much did we spend on food in May"),
    ("track_expenses", "add these receipts up"),
    ("schedule", "find a time when everybody is free for the meeting"),
    ("schedule", "put the dentist appointment in my calendar"),
    ("write_tests", "unit tests for the parser please"),
    ("write_tests", "cover this module with test cases"),
    ("teach", "explain black holes to a beginner"),
    ("teach", "help me study for the biology exam"),
)

UNSEEN: tuple[tuple[str, str], ...] = (
    ("summarise", "Boil these minutes down to five lines"),
    ("summarise", "give me an overview of the chapter"),
    ("summarise", "shorten the speech and keep what matters"),
    ("summarise", "the most important takeaways of the interview"),
    ("extract", "collect all e-mail addresses from the page"),
    ("extract", "Get the dates out of the protocol"),
    ("extract", "pick the prices from the catalogue text"),
    ("extract", "gather the names of everybody who signed"),
    ("compare", "which of the two phones is cheaper, and what else sets them apart"),
    ("compare", "what has changed since the previous version"),
    ("compare", "similarities of both proposals"),
    ("compare", "put the two laptops side by side"),
    ("research", "dig through my papers for the warranty of the fridge"),
    ("research", "what do the files in this folder say about deadlines"),
    ("research", "investigate in my diary when I last saw Tom"),
    ("research", "read the documentation here and answer how backups work"),
    ("translate", "turn the menu into English"),
    ("translate", "I need a Spanish translation of my CV"),
    ("translate", "how would one say good luck in Italian"),
    ("proofread", "check the spelling of this page"),
    ("proofread", "fix the grammar and the commas"),
    ("proofread", "spot misspelled words in my application"),
    ("write_email", "write to my boss that I am ill"),
    ("write_email", "an apology letter to the neighbours"),
    ("write_email", "respond to this mail kindly"),
    ("review_code", "go over the diff and tell me what is wrong with it"),
    ("review_code", "does this source have vulnerabilities"),
    ("review_code", "review my pull request"),
    ("explain_error", "what does this warning from the compiler mean"),
    ("explain_error", "help me debug the failing start"),
    ("explain_error", "make sense of the stack trace"),
    ("plan_trip", "a weekend tour through the Alps by train"),
    ("plan_trip", "where to stay and what to visit in Rome"),
    ("plan_trip", "organise our vacation in Norway"),
    ("find_recipe", "a dessert without sugar"),
    ("find_recipe", "what meal can I make from leftovers"),
    ("find_recipe", "how to bake sourdough bread"),
    ("sort_photos", "tidy the camera roll"),
    ("sort_photos", "group photographs by year"),
    ("sort_photos", "my snapshots are a mess, order them into folders"),
    ("track_expenses", "sum up the bills of the month"),
    ("track_expenses", "what did the renovation cost in total"),
    ("track_expenses", "show my spending by category"),
    ("schedule", "postpone the call with Anna to Friday"),
    ("schedule", "is there a free slot for lunch with the team"),
    ("schedule", "remind me of the event"),
    ("write_tests", "a regression test for issue 12"),
    ("write_tests", "increase the coverage of the scheduler"),
    ("write_tests", "check the function with pytest"),
    ("teach", "an introduction to chess"),
    ("teach", "quiz me on French verbs"),
    ("teach", "I want to understand how engines work, step by step"),
)

NOTHING_FITS: tuple[str, ...] = (
    "turn the volume down",
    "roll a dice",
    "reboot the router",
    "play some jazz",
    "what is 12 times 7",
    "lock the screen",
)


def others() -> tuple[Template, ...]:
    """The twelve templates, each content with a text."""
    return tuple(Template(name, description, hints, ("text",)) for name, description, hints in OTHERS)
