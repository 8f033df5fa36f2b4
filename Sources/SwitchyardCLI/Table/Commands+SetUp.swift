import SwitchyardSupabase

extension Commands {
    static let setUp: [CommandSpec] = [
        doctor, types,
        CommandSpec(
            name: "conformance", summary: "Runs the checks that every provider passes, and prints a table.",
            options: [
                OptionSpec(
                    "--config", "FILE", "the clients to check, as a configuration in JSON; without it, the mock",
                    completes: .file),
                OptionSpec(
                    "--client", "NAME", "only the checks of one client: \(ConformanceCommand.clientNames)",
                    completes: .words(ConformanceCommand.clients)),
                OptionSpec("--filter", "TEXT", "only the checks whose name contains TEXT"),
                OptionSpec("--json", nil, "prints the whole report as JSON"),
                OptionSpec(
                    "--junit", "FILE", "also writes the report for programs that read JUnit's XML", completes: .file),
                OptionSpec("--html", "FILE", "also writes the report as a page, all in one file", completes: .file),
                OptionSpec(
                    "--sql", nil,
                    "prints the statements that create the table for the checks of a project with tables alone, and runs "
                        + "nothing"),
            ],
            details: [
                "Checks that need someone to read emails or send messages are skipped for a configuration. Signing up must not "
                    + "require a confirmation, and the rules of the domain clients must be in place. A state folder adds the "
                    + "checks of sessions and uploads across restarts; a project credential adds account management.",
                "A Supabase project with tables alone (usesDocumentTable false) needs a table for the storage checks, which "
                    + "--sql prints; a table that the file maps to conformance/{COLUMN}/items is used instead. All rows are "
                    + "deleted again.",
            ],
            examples: ["conformance --config backend.json --client storage --junit report.xml"]),
        CommandSpec(
            name: "firebase rules",
            summary:
                "Prints the security rules for users, contacts, check-ins and notifications, as a file for Firestore."),
        CommandSpec(
            name: "supabase install",
            summary: "Installs in a database what documents and messages on Supabase need, or updates it.",
            options: destination + [
                OptionSpec(
                    "--explain", nil,
                    "lists every object that would be created, why, and who may use it; installs nothing"),
                OptionSpec(
                    "--documents", nil,
                    "documents only. You can name several parts, now or later; without --documents, --messages and --rows: "
                        + "documents and messages\(Set<SchemaPart>.includesRows ? ", and rows" : "")"),
                OptionSpec("--messages", nil, "messages, and registrations for push messages, only"),
                OptionSpec(
                    "--domain", nil,
                    "adds the rules for users, contacts, check-ins and notifications; needs documents"),
                OptionSpec(
                    "--rows", nil,
                    "rows of your own tables as documents, for apps with an earlier version of this package; needs documents"
                ),
                OptionSpec(
                    "--anon", nil,
                    "callers who are not signed in may call every function, and only rules and policies decide; without it, "
                        + "they may call what a rule “public” opens"),
            ],
            details: ["Reports what this role may not create, with the statements for an administrator."],
            examples: ["supabase install --print | psql \"$SUPABASE_DB_URL\""]),
        CommandSpec(
            name: "supabase uninstall",
            summary:
                "Lists what it would remove, asks, and removes it: the named parts and what needs them, or everything.",
            options: destination
                + SchemaPart.allCases.map { OptionSpec("--\($0.rawValue)", nil, "removes \($0.rawValue)") } + [
                    OptionSpec(
                        "--keep-data", nil, "keeps the tables and their contents; only their owner can use them then"),
                    OptionSpec("--yes", nil, "does not ask"),
                ], details: ["Older versions are removed as well."]),
        CommandSpec(
            name: "adapter",
            summary: "Prints one Swift file for your own package, which then uses Switchyard with another library.",
            arguments: [
                ArgumentSpec(
                    "NAME", Adapter.names.joined(separator: ", ") + "; without it, the list of the files",
                    count: .optional, completes: .words(Adapter.names))
            ],
            options: [
                OptionSpec(
                    "--output", "FILE", "writes the file instead; one that exists is never replaced", completes: .file)
            ], examples: ["adapter vapor --output Sources/App/Switchyard+Vapor.swift"]),
    ]

    private static let destination = [
        OptionSpec("--print", nil, "prints the SQL for psql, which stops at the first error"),
        OptionSpec(
            "--editor", nil, "leaves out what only psql understands, for the SQL editor of Supabase's dashboard"),
        OptionSpec(
            "--database", "URL",
            "runs it in postgresql://USER@127.0.0.1:PORT/NAME, on this machine and without a password"),
    ]

    static let program = [
        CommandSpec(
            name: "demo",
            summary:
                "Plays the day of a check-in app on a local Firebase, then moves it to another backend, and prints what happens.",
            options: [OptionSpec("--page", nil, "shows it on a page, which stays until Ctrl-C")],
            details: ["It takes a few seconds, needs nothing, and leaves nothing behind."]),
        CommandSpec(name: "version", summary: "Prints the version of the program.", options: [json]),
        CommandSpec(
            name: "completions", summary: "Prints completions for a shell.",
            arguments: [
                ArgumentSpec("SHELL", "bash, zsh or fish", completes: .words(CompletionsCommand.Shell.names))
            ],
            examples: [
                "completions bash > ~/.local/share/bash-completion/completions/switchyard",
                "completions zsh > ~/.zfunc/_switchyard",
                "completions fish > ~/.config/fish/completions/switchyard.fish",
            ]),
        CommandSpec(
            name: "help", summary: "Prints all commands, or what one of them takes.",
            arguments: [
                ArgumentSpec("COMMAND", "a command, such as “supabase install”", count: .any, completes: .command)
            ],
            options: [
                OptionSpec("--all", nil, "prints what every command takes"),
                OptionSpec("--markdown", nil, "prints the same for the article"),
            ]),
    ]
}
