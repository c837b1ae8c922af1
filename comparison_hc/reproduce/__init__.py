"The papers' experiments run again: the engine, claims that are judged, and for every paper its runs and its figures."
