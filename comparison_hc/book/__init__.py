"The static site: notebooks as pages, routes through them, and a reference that is read from the code."
