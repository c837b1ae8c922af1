"What all rooms stand on: checks of input, reading and counting answers, tree drawing, journals that survive a kill."
