"What a user of the methods needs besides: data sets, the table of methods, baselines, result pages, the command."
