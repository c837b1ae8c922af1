"What everything stands on: the gate for input, tables of votes, answers by the batch, files that survive a kill."
