"The statements of the four papers and the steps of their proofs as checks that can fail, one module per topic."
