"What all subpackages use: checks of input, reading and counting answers, tree drawing, journals that survive a kill."
