"Sessions in which people are asked: in a terminal, on a page, and many people's answers taken together."
