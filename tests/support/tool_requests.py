"""23 tools, and what people ask for in their own words, each with the tool that does it: to measure ranking with."""

from typing import Final

from aeond.domain.tools import Effect, ToolSpec
from aeond.domain.values import JsonObject

_ANYTHING: Final[JsonObject] = {"type": "object"}
_TOOLS: Final[tuple[tuple[str, str, JsonObject], ...]] = (
    ("calculator", "Computes an arithmetic expression exactly.", {"expression": "(17.5/100)*240"}),
    ("now", "Gives the current date and time, also in another time zone.", {"zone": "Asia/Tokyo"}),
    ("read_file", "Reads lines of a text file.", {"path": "poem.txt"}),
    (
        "list_dir",
        "Lists the files and folders in a folder, with sizes and times; says which file is the largest and the newest.",
        {"path": "music"},
    ),
    (
        "search_files",
        "Searches the text of files for words or a pattern and gives the lines.",
        {"text": "whale"},
    ),
    ("write_file", "Writes a text file. Replaces what is there.", {"path": "list.txt", "content": "milk"}),
    ("remember", "Remembers a fact under a key.", {"key": "car", "value": "blue"}),
    ("recall", "Finds remembered facts.", {"text": "car"}),
    ("request_user_input", "Asks the user a question.", {"prompt": "Which size?"}),
    ("weather", "Gives the weather forecast of a place.", {"place": "Bergen"}),
    ("send_mail", "Sends an e-mail.", {"to": "ann@example.org", "subject": "Hello"}),
    ("calendar_add", "Adds an event to the calendar.", {"title": "Dentist", "day": "2026-03-04"}),
    ("calendar_list", "Lists the events of a day.", {"day": "2026-03-04"}),
    ("play_music", "Plays a song, an album or an artist.", {"what": "Bach"}),
    ("set_timer", "Sets a timer or an alarm.", {"minutes": "10"}),
    ("translate", "Translates a text into another language.", {"text": "Good morning", "language": "French"}),
    ("web_search", "Searches the web.", {"query": "bridges of Porto"}),
    ("currency", "Converts an amount between currencies.", {"amount": "20", "to": "EUR"}),
    ("git_log", "Shows the commits of a repository.", {"path": "."}),
    ("run_tests", "Runs the tests of a project.", {"path": "."}),
    ("resize_image", "Changes the size of a picture.", {"path": "cat.png", "width": "300"}),
    ("extract_zip", "Unpacks an archive.", {"path": "a.zip"}),
    ("stock_price", "Gives the price of a share.", {"symbol": "ACME"}),
)
TOOLS: Final = tuple(
    ToolSpec(name, description, _ANYTHING, _ANYTHING, Effect.PURE, example=example)
    for name, description, example in _TOOLS
)
TOOL_REQUESTS: Final = (
    ("calculator", "how much is 12 percent of 83.50"),
    ("calculator", "add up 14, 27 and 90"),
    ("now", "what time is it in Lima"),
    ("now", "which day of the week is today"),
    ("read_file", "show me what is in todo.md"),
    ("read_file", "open the letter and tell me who signed it"),
    ("list_dir", "what files do I have here"),
    ("list_dir", "which document is the biggest"),
    ("search_files", "where did I mention the plumber"),
    ("search_files", "find every line with the word invoice"),
    ("write_file", "save this as notes.txt"),
    ("write_file", "make a new file with my shopping list"),
    ("remember", "keep in mind that my sister lives in Graz"),
    ("remember", "note that the wifi password is tulip"),
    ("recall", "what is my wifi password"),
    ("recall", "what do you know about me"),
    ("weather", "do I need an umbrella tomorrow"),
    ("weather", "how cold will it get in Oslo"),
    ("send_mail", "write to Tom that I am late"),
    ("calendar_add", "put lunch with Eva on Friday"),
    ("calendar_list", "what am I doing on Tuesday"),
    ("play_music", "put on some jazz"),
    ("set_timer", "wake me at seven"),
    ("translate", "how do you say thank you in Polish"),
    ("web_search", "look up who won the Tour de France online"),
    ("currency", "how many dollars are 300 pounds"),
    ("git_log", "who changed this repository last week"),
    ("run_tests", "does the project still pass"),
    ("resize_image", "make the photo smaller"),
    ("extract_zip", "unzip the download"),
    ("stock_price", "what is Siemens trading at"),
)
