extension SchemaReasons {
    static let documents: [String: String] = [
        "switchyard.documents": "the documents, with whose they are and when they were written",
        "switchyard.deletions": "where documents were, for listeners who come back",
        "switchyard.batches": "answers to commits, so that one that is sent again is carried out once",
        "switchyard.rules": "who may read and write which kind of collection",
        "switchyard.documents_collection": "a collection in the order of its names",
        "switchyard.documents_group": "a collection group in the order of its names",
        "switchyard.documents_place": "a document and what is below it",
        "switchyard.documents_changes": "what was written since a transaction",
        "switchyard.documents_values": "equality and membership in arrays",
        "switchyard.documents_owner": "a user's own documents",
        "switchyard.deletions_changes": "what was deleted since a transaction",
        "switchyard.deletions_age": "what is old enough to be forgotten",
        "switchyard.deletions_owner": "what was deleted of a user's own",
        "switchyard.batches_age": "what is old enough to be forgotten",
        "documents_read on switchyard.documents": "the rules for whoever reads the table itself",
        "switchyard_listen on realtime.messages": "who may receive change hints of a collection",
        "documents_stamp on switchyard.documents": "versions, times and traces of deletions",
        "documents_inserted on switchyard.documents": "a change hint for each collection",
        "documents_updated on switchyard.documents": "a change hint for each collection",
        "documents_deleted on switchyard.documents": "a change hint for each collection",
        "rules_rights on switchyard.rules": "sets the rights of anon when a collection is opened or closed",
        "select on switchyard.documents to authenticated": "as far as the policies let them",
        "select on switchyard.documents to anon":
            "while a collection may be read by everybody, and as far as the policies let them",
        "all on switchyard.documents, switchyard.deletions, switchyard.batches, switchyard.rules to service_role":
            "servers with the service key stand above the rules",

        // What clients call.
        "public.switchyard_get": "documents by their paths",
        "public.switchyard_query": "the results of a query",
        "public.switchyard_aggregate": "counts, sums and averages over a query's results",
        "public.switchyard_collections": "the names of collections below a document",
        "public.switchyard_changes": "what listeners have not seen yet",
        "public.switchyard_commit": "carries out a batch of writes, once",
        "public.switchyard_commit_many": "several batches in one call, each by itself",
        "public.switchyard_commit_rows": "a batch of writes to documents and rows of tables",
        "public.switchyard_outcome": "what became of a batch",
        "public.switchyard_delete_tree": "deletes a document and what is below it, a part at a time",

        // Values and their order.
        "switchyard.place": "a path as bytes, in the order of paths; a column is made by it",
        "switchyard.word": "what a value stands for that JSON has no word for",
        "switchyard.is_malformed": "whether something in a value only looks like such a word",
        "switchyard.whole_key": "a value as bytes, in the order of values",
        "switchyard.key": "as much of that as an index holds",
        "switchyard.own_key": "the same, for indexes of users' own documents",
        "switchyard.time_text": "a time as clients read it",
        "switchyard.strings": "a list of strings as an array",
        "switchyard.put": "data with a field set, or without it",
        "switchyard.as_double": "a number in either spelling as a double",
        "switchyard.from_double": "a double as a value",
        "switchyard.total": "a sum, and infinity beyond every double",

        // The rules.
        "switchyard.is_trusted": "whether the caller stands above the rules",
        "switchyard.standing": "the rules as the caller meets them; the policy on the table asks it",
        "switchyard.holder": "whose a document is by its rule; the policy on the table asks it",
        "switchyard.allowed": "the rules as a condition",
        "switchyard.shown": "which documents of a collection the caller sees, as a condition",
        "switchyard.permits": "whether a document is the caller's, compared before anything else",
        "switchyard.may_listen": "whether the caller may receive change hints; the policy on realtime.messages asks it",

        // Queries.
        "switchyard.has_element": "whether an array has an element; keeps the planner to the index of values",
        "switchyard.filter_sql": "a filter as SQL",
        "switchyard.tree_sql": "a document and what is below it, as SQL",
        "switchyard.clauses": "a query's conditions and order as SQL",
        "switchyard.query_sql": "a query as SQL",
        "switchyard.document_sql": "a document as clients read it, as SQL",
        "switchyard.answer": "documents with the time as of which they are, or whether no one was writing",
        "switchyard.index_sql": "for administrators: the statement that builds an index for an order or range",
        "switchyard.create_index": "for administrators: builds such an index at once",

        // Commits.
        "switchyard.transformed": "the result of a transform",
        "switchyard.stamp": "trigger: versions, times and traces of deletions",
        "switchyard.forget": "forgets old deletions and answers, a few at a time",
        "switchyard.begin_writes":
            "begins a new epoch where the old is not good here; lets commits to the same paths wait",
        "switchyard.remember": "keeps the answer to a batch, for commits with the caller's rights",

        // Changes.
        "switchyard.home": "which history of which database this is",
        "switchyard.begin_epoch": "for administrators: lets all listeners start over",
        "switchyard.announce": "trigger: sends change hints",

        // Rows of tables in commits.
        "switchyard.column_type": "a column's type, in schemas that commits reach",
        "switchyard.from_column_sql": "a column as a value, as SQL",
        "switchyard.column_text": "a value as text for a column",
        "switchyard.literal": "a constant of a type",
        "switchyard.write_row": "one write to a row, with the caller's rights",
    ]
}
