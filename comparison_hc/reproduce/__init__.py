"The papers' experiments and figures, and the engine that runs them; one module a paper, named by the paper."
