extension Commands {
    static let config = OptionSpec(
        "--config", "FILE",
        "the configuration in JSON; without it, the file that SWITCHYARD_CONFIG names, else the variables of the "
            + "environment, such as SWITCHYARD_DEFAULT", completes: .file)
    static let state = OptionSpec(
        "--state", "FOLDER",
        "keeps the session, the cache and the queue of writes here; without it, in the stateFolder of the configuration",
        completes: .folder)
    private static let asProject = OptionSpec(
        "--as-project", nil, "acts for the project, with the project credential of the configuration, past all rules")
    private static let plain = OptionSpec(
        "--plain", nil, "prints values as plain JSON, without their kinds")
    private static let group = OptionSpec(
        "--group", nil, "COLLECTION is the last name of collections, wherever they are")
    private static let wait = OptionSpec(
        "--wait", "SECONDS",
        "how long to wait for the server; 10 without it. With a state folder, the write then waits "
            + "there")
    static let json = OptionSpec("--json", nil, "prints JSON")

    private static let backend = [config, state]
    /// What the article explains once.
    static let common = [config, state, asProject]
    private static let path = ArgumentSpec("PATH", "a document, such as users/alice")
    private static let fields = ArgumentSpec(
        "JSON", "its fields; without it, or as -, from the standard input", count: .optional)
    private static let query = ArgumentSpec(
        "QUERY", "conditions, order and limits, such as 'where age > 17 order by name limit 20'", count: .optional)
    private static let collection = ArgumentSpec("COLLECTION", "a collection, such as users or users/alice/notes")
    private static let valuesAsJSON =
        "JSON is an object with a member for each field. A value is plain JSON, or an object with its kind, such as "
        + "{\"timestamp\":{\"seconds\":1795823090}}, as in the lines that “get” prints."

    static let documents = [
        CommandSpec(
            name: "get", summary: "Prints documents, one per line, as JSON.",
            arguments: [ArgumentSpec("PATH", "documents, such as users/alice", count: .atLeastOne)],
            options: backend + [asProject, plain],
            details: [
                "A line has the document's path, the server's times and its data. Each value is an object with its kind, as "
                    + "in the archives of “move”. A missing document is reported, and the exit status is 1."
            ],
            examples: ["get users/alice", "get --plain users/alice users/bob"]),
        CommandSpec(
            name: "set", summary: "Writes whole documents.",
            arguments: [
                ArgumentSpec(
                    "PATH", "a document; without it, lines with a path and data come from the standard input",
                    count: .optional), fields,
            ],
            options: backend + [asProject, wait],
            details: [
                valuesAsJSON,
                "Without PATH, it takes the lines that “get” and “query” print, so that documents can be copied.",
            ],
            examples: [
                #"set users/alice '{"name":"Alice","age":36}'"#, "query users | switchyard set --config other.json",
            ]),
        CommandSpec(
            name: "merge", summary: "Writes some fields of a document, and creates it if it is missing.",
            arguments: [path, fields], options: backend + [asProject, wait], details: [valuesAsJSON],
            examples: [#"merge users/alice '{"address":{"city":"Ulm"}}'"#]),
        CommandSpec(
            name: "update", summary: "Changes fields of a document, which must exist.",
            arguments: [path, fields], options: backend + [asProject, wait],
            details: [
                valuesAsJSON,
                "A name is the path of a field, such as address.city. Besides values there are changes: {\"increment\":1}, "
                    + "{\"maximum\":5}, {\"minimum\":5}, {\"arrayUnion\":[…]}, {\"arrayRemove\":[…]}, {\"serverTime\":true} and "
                    + "{\"delete\":true}. “set” and “merge” take them as well.",
            ],
            examples: [#"update users/alice '{"visits":{"increment":1},"address.city":"Ulm"}'"#]),
        CommandSpec(
            name: "delete", summary: "Deletes documents.",
            arguments: [ArgumentSpec("PATH", "documents, such as users/alice", count: .atLeastOne)],
            options: backend + [
                asProject, wait, OptionSpec("--recursive", nil, "deletes everything below them as well"),
                OptionSpec("--yes", nil, "does not ask before it deletes recursively"),
            ], examples: ["delete users/alice", "delete --recursive --yes users/alice"]),
        CommandSpec(
            name: "query", summary: "Prints the documents that a query finds, one per line, as JSON.",
            arguments: [query, collection], options: backend + [asProject, group, plain],
            details: [
                "QUERY has any of “where CONDITION”, “order by FIELD [desc], …”, “start at|after VALUE, …”, “end at|before "
                    + "VALUE, …”, “limit [last] N”, “offset N” and “select FIELD, …”. Results are read in pages and printed as "
                    + "they come. The article “The query language” has all of it."
            ],
            examples: [
                "query users", "query 'where age > 17 and tags includes \"new\" order by name limit 20' users",
                "query --group 'where done = false' todos",
            ]),
        CommandSpec(
            name: "count", summary: "Counts the documents that a query finds, on the server.",
            arguments: [query, collection],
            options: backend + [
                asProject, group, OptionSpec("--sum", "FIELD", "prints the sum of a field instead"),
                OptionSpec("--average", "FIELD", "prints the average of a field instead"), json,
            ], examples: ["count 'where age > 17' users", "count --sum price orders"]),
        CommandSpec(
            name: "watch", summary: "Prints changes as they happen, one per line, until Ctrl-C.",
            arguments: [
                query, ArgumentSpec("COLLECTION", "a collection, or a document such as users/alice"),
            ],
            options: backend + [
                asProject, group, plain, OptionSpec("--count", "N", "ends after N lines"),
            ],
            details: [
                "A line has the change (added, modified or removed) and the document. First, every document is added; then a "
                    + "line {\"change\":\"current\"} says that the server has confirmed the list."
            ], examples: ["watch 'where done = false' todos", "watch users/alice"]),
    ]

    static let files = [
        CommandSpec(
            name: "ls", summary: "Lists files and folders, or collections of documents.",
            arguments: [
                ArgumentSpec("FOLDER", "a folder of files; without it, the top", count: .optional)
            ],
            options: backend + [
                asProject,
                OptionSpec(
                    "--collections", nil, "lists collections of documents, below the document FOLDER or at the top"),
                OptionSpec("--json", nil, "prints a file per line as JSON"),
            ], examples: ["ls avatars", "ls --collections users/alice"]),
        CommandSpec(
            name: "upload", summary: "Uploads a file.",
            arguments: [
                ArgumentSpec("FILE", "a file on this machine, or - for the standard input", completes: .file),
                ArgumentSpec("PATH", "where it goes, such as avatars/alice.png"),
            ],
            options: backend + [
                asProject, OptionSpec("--type", "TYPE", "its content type; without it, by the ending of PATH"),
                OptionSpec("--new", nil, "fails if there is such a file"), json,
            ], details: ["Ctrl-C cancels it, and nothing of it stays on the server."],
            examples: ["upload alice.png avatars/alice.png"]),
        CommandSpec(
            name: "download", summary: "Downloads a file.",
            arguments: [
                ArgumentSpec("PATH", "the file, such as avatars/alice.png"),
                ArgumentSpec(
                    "FILE", "where it goes, or - for the standard output; without it, the name of PATH here",
                    count: .optional, completes: .file),
            ], options: backend + [asProject, json],
            details: ["The file appears when it is complete. Ctrl-C leaves nothing of it."],
            examples: ["download avatars/alice.png", "download logs/today.txt - | tail"]),
    ]

    static let accounts = [
        CommandSpec(
            name: "sign-in", summary: "Signs in, for this and later commands.",
            arguments: [ArgumentSpec("EMAIL", "the address of the account", count: .optional)],
            options: backend + [
                OptionSpec("--anonymous", nil, "signs in without an account of one's own"),
                OptionSpec("--new", nil, "creates the account"), json,
            ],
            details: [
                "The password is asked for and not shown. A script passes it in the variable SWITCHYARD_PASSWORD or as the first "
                    + "line of the standard input. The session is kept in the state folder, and commands that use the folder act "
                    + "as this person."
            ], examples: ["sign-in alice@example.com --state .switchyard"]),
        CommandSpec(
            name: "sign-out", summary: "Ends the session in the state folder.",
            options: backend + [
                OptionSpec("--wipe", nil, "also deletes the person's cache and the writes that wait")
            ]),
        CommandSpec(
            name: "whoami", summary: "Prints who is signed in; exit status 1 if no one is.", options: backend + [json]),
    ]

    static let queue = [
        CommandSpec(
            name: "queue list",
            summary: "Prints the writes that wait in the state folder, and those that the server rejected.",
            options: backend + [json]),
        CommandSpec(
            name: "queue retry", summary: "Sends the writes that wait; rejected ones that are named are tried again.",
            arguments: [ArgumentSpec("ID", "rejected writes, as “queue list” prints them", count: .any)],
            options: backend + [wait]),
        CommandSpec(
            name: "queue drop", summary: "Drops writes, waiting or rejected: they are never sent.",
            arguments: [ArgumentSpec("ID", "the writes, as “queue list” prints them", count: .any)],
            options: backend + [
                OptionSpec("--rejected", nil, "drops all that the server rejected"),
                OptionSpec("--all", nil, "drops all"),
            ]),
    ]

    static let doctor = CommandSpec(
        name: "doctor", summary: "Checks a configuration and its backend, and says what to change.",
        options: backend + [
            OptionSpec("--json", nil, "prints a check per line as JSON"),
            OptionSpec(
                "--database", "URL",
                "also asks the database of a Supabase on this machine, postgresql://USER@127.0.0.1:PORT/NAME, for missing "
                    + "pieces, policies, the publication and indexes"),
            OptionSpec(
                "--read-only", nil, "writes nothing: leaves out the checks that sign up, write, stream and upload"),
        ],
        details: [
            "It checks the configuration, the address, TLS, the clock, kinds and expiry of keys, rules and policies, what is "
                + "installed in the database, mapped tables, row caps, indexes, realtime and buckets. Finally, it writes, "
                + "streams, and cleans up. Each check is a line: ✓ is fine, ! is worth a look, ✗ has to be changed; below it is "
                + "what to do. The exit status is 1 if there is a ✗.",
            "It needs what an app has: the key, and a project that lets accounts sign up. With a project credential it checks "
                + "more. It tries rules as someone signed out and as two accounts that it makes, with documents and files "
                + "whose names begin with “doctor-”. Documents and files are deleted at the end. Accounts are deleted where the "
                + "provider can, or with a project credential; otherwise a line says which stay.",
        ], examples: ["doctor --config backend.json"])

    static let types = CommandSpec(
        name: "types", summary: "Writes Swift types for the documents of a backend.",
        arguments: [ArgumentSpec("COLLECTION", "collections; without them, all mapped tables", count: .any)],
        options: backend + [
            OptionSpec(
                "--from", "SOURCE", "supabase reads the columns of mapped tables; firebase samples documents",
                completes: .words(["supabase", "firebase"])),
            OptionSpec("--sample", "N", "how many documents of a collection to sample; 100 without it"),
            OptionSpec("--public", nil, "makes the types public"),
            OptionSpec("--output", "FILE", "writes the file instead of printing it", completes: .file), asProject,
        ],
        details: [
            "“supabase” takes columns, nullability and enumerations from the description that the REST API gives; hosted "
                + "projects give it to the service key alone. “firebase” samples documents through the configuration, and works "
                + "for the documents of every provider: a field that some documents lack is optional, one with several kinds is a "
                + "DocumentValue."
        ],
        examples: [
            "types --from supabase --output Sources/App/Tables.swift",
            "types --from firebase --sample 500 users orders",
        ])
}
