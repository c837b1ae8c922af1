"What a user of the methods needs besides them: pages and files of results, embeddings to compare with."
