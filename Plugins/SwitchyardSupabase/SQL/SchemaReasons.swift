/// Why an installation has each of its objects, and what functions check that run with its owner's rights.
enum SchemaReasons {
    static let reasons = shared.merging(documents) { first, _ in first }

    private static let shared: [String: String] = [
        // What every part needs.
        "switchyard.settings": "one row: the version, the parts, and how long records are kept",
        "switchyard.caller": "who is calling, by the claims of the request",
        "public.switchyard_schema": "the version, which clients ask for first",
        "switchyard.access": "the list of who may call what",
        "switchyard.rights": "that list, for each role beside what the role can call now",
        "switchyard.set_rights": "trigger: grants and revokes, so that rights are as the list and the rules say",
        "switchyard.missing": "for administrators: what is missing, each with the statement that adds it",
        "settings_rights on switchyard.settings": "sets the rights when a part comes or goes, or “anon” changes",

        // Messages.
        "switchyard.installations": "installations of apps, whose they are, and the tokens of push services",
        "switchyard.channels": "how many messages each channel has got",
        "switchyard.installations_owner": "finds a user's installations",
        "switchyard.installations_token": "keeps a push token to one installation",
        "installations_read on switchyard.installations": "users see their own installations",
        "switchyard_messages on realtime.messages": "who may receive messages of a topic or an installation",
        "public.switchyard_register": "makes an installation the caller's",
        "public.switchyard_unregister": "ends a registration, also after a sign-out",
        "public.switchyard_messages": "messages that a listener has missed",
        "switchyard.may_hear": "whether the caller may hear a topic; the policy on realtime.messages asks it",
        "switchyard.send_message": "for administrators and triggers: sends a message",

        // The rule `domain`.
        "switchyard.domain_reads": "whether the caller may read a document; the policy on the table asks it",
        "switchyard.domain_touches": "whether the caller may write there at all, or delete what is there",
        "switchyard.domain_leaves": "whether the caller may leave a document like this",
        "documents_domain on switchyard.documents": "the rule for whoever reads the table itself",
        "switchyard.documents_contact": "finds the lists that the caller is on",
        "switchyard.documents_check_in": "finds the check-ins of those whom the caller sees",

        // Rows as documents.
        "public.switchyard_rows": "rows by their IDs",
        "public.switchyard_row_query": "the results of a query over a table",
        "public.switchyard_row_aggregate": "counts, sums and averages over a table",
        "public.switchyard_look": "what listeners to rows and documents have not seen",
        "switchyard.rows_sql": "rows as documents, as SQL",
        "switchyard.row_ids_sql": "rows by their IDs, as SQL",
        "switchyard.projected": "only the fields asked for",
        "switchyard.native_sql": "conditions on columns, for the table's own indexes",
        "switchyard.row_query_sql": "a query as SQL",
        "switchyard.rows_json": "rows as clients read them",
        "switchyard.newest": "the newest time of an answer",

        // What whole roles may do.
        "usage on schema switchyard to anon, authenticated, service_role":
            "policies and functions that run with the caller's rights name functions in it",
        "usage on schema switchyard to the owner of realtime.messages":
            "whoever creates its policies names functions in it",
        "all on switchyard.settings to service_role": "servers with the service key administer the tables",
        "all on switchyard.installations to service_role": "servers with the service key send push messages",
        "all on switchyard.channels to service_role": "servers with the service key administer the tables",
        "select on switchyard.installations to authenticated": "as far as the policy lets them",
    ]

    /// For every function that runs with its owner's rights.
    static let checks: [String: String] = [
        "public.switchyard_schema": "nothing; it answers two numbers",
        "switchyard.set_rights": "nothing; it takes no argument and only does what the list and the rules say",

        "public.switchyard_register": "that the caller is signed in; it writes the caller's ID and no other",
        "public.switchyard_unregister":
            "nothing but the installation's name, 16 bytes or more that only its device knows",
        "public.switchyard_messages": "each channel, as the policy for it does",
        "switchyard.may_hear": "that the caller is signed in, and for an installation that it is the caller's",

        "switchyard.domain_reads": "that it is the caller's, or that of somebody whose responder the caller is",

        "public.switchyard_get": "the read rules, in the statement that finds the documents",
        "public.switchyard_query": "the read rules, before any condition of the caller's",
        "public.switchyard_aggregate": "the read rules, before any condition of the caller's",
        "public.switchyard_collections": "the read rules; it names collections where the caller may read something",
        "public.switchyard_changes": "the read rules, of documents and of what was deleted",
        "public.switchyard_commit": "the write rules, for each write",
        "public.switchyard_outcome": "that the batch was the caller's",
        "public.switchyard_delete_tree": "the write rules, for each document",
        "switchyard.begin_epoch": "nothing; only administrators and functions call it",
        "switchyard.begin_writes": "nothing; it locks names and begins an epoch where the database has moved",
        "switchyard.answer": "nothing; it answers a time",
        "switchyard.column_type": "the list of schemas in the settings",
        "switchyard.standing": "who is calling; it answers the rules, which are no secret",
        "switchyard.stamp": "nothing; a trigger of the table",
        "switchyard.announce": "nothing; a trigger of the table, which tells where something was written and not what",
        "switchyard.may_listen": "the read rule of the collection that the topic names",
        "switchyard.remember": "nothing; it writes in the caller's name and no other",
    ]
}
