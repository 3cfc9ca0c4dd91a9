"""What a step, a stream, a start and a call cost: ours, others' and the machine's own floor, in one run."""
