extension Commands {
    /// What all but the ends have in common.
    private static let planning = [
        OptionSpec(
            "--collections", "NAMES",
            "only the documents of these collections, such as users,orders; without it, all that the source lists"),
        OptionSpec(
            "--hashes", "FILE",
            "password hashes, one account per line: {\"id\":\"…\",\"passwordHash\":{\"kind\":\"bcrypt\",\"hash\":\"$2b$10$…\"}}",
            completes: .file),
        OptionSpec(
            "--owner-fields", "NAMES", "fields with IDs of accounts, rewritten where an account gets another ID"),
        OptionSpec(
            "--journal", "FOLDER", "records what is done, new IDs of accounts, and what the target rejects",
            completes: .folder),
        OptionSpec("--thorough", nil, "reads all documents for the plan, to find every collection and value"),
        json,
    ]

    private static let plan = OptionSpec(
        "--plan", "FILE", "a plan from “move plan --json”; without it, a new one", completes: .file)
    private static let copying = [
        plan, OptionSpec("--throttle", "N", "at most N documents per second"),
        OptionSpec(
            "--ramp-from", "N",
            "begins with N documents per second, and raises that by half every five minutes"),
    ]

    private static func ends(_ from: String, _ to: String) -> [OptionSpec] {
        [
            OptionSpec("--from", from, from == "FILE" ? file : from == "FOLDER" ? folder : either, completes: .file),
            OptionSpec("--to", to, to == "FILE" ? file : to == "FOLDER" ? folder : either, completes: .file),
        ]
    }
    private static let file = "a configuration in JSON with a project credential"
    private static let folder = "an archive"
    private static let either = "a configuration in JSON with a project credential, or the folder of an archive"

    static let move =
        [
            CommandSpec(
                name: "move plan",
                summary:
                    "Prints what a move between two backends would copy, what it costs, and what cannot come along.",
                options: ends("FILE|FOLDER", "FILE|FOLDER") + planning),
            CommandSpec(
                name: "move run", summary: "Copies accounts, documents and files. The source is only read.",
                options: ends("FILE|FOLDER", "FILE|FOLDER") + planning + copying,
                details: ["Ctrl-C stops it; the same command continues. It needs --journal."]),
            CommandSpec(
                name: "move verify",
                summary: "Compares both ends: a hash of each collection, each account, the checksum of each file.",
                options: ends("FILE|FOLDER", "FILE|FOLDER") + planning + [
                    plan,
                    OptionSpec(
                        "--repair", nil,
                        "copies again what differs or is missing; what only the target has stays"),
                ]),
            CommandSpec(
                name: "move rehearse",
                summary: "Runs the whole move into a local server that is thrown away, and reports.",
                options: ends("FILE", "FILE") + planning.filter { $0.name != "--journal" },
                details: [
                    "The source is only read. A target that is Supabase needs PostgreSQL on this machine."
                ]),
            CommandSpec(
                name: "move export", summary: "Copies a backend to an archive, which has a documented format.",
                options: ends("FILE", "FOLDER") + planning + copying,
                details: ["Without --journal, it is in the archive's folder."]),
            CommandSpec(
                name: "move import", summary: "Copies an archive to a backend.",
                options: ends("FOLDER", "FILE") + planning + copying,
                details: ["Without --journal, it is in the archive's folder."]),
        ] + live

    // MARK: While everything runs

    private static let name = OptionSpec(
        "--name", "NAME", "the move's name, as in the configuration of the apps; without it, “default”")
    private static let wait = OptionSpec(
        "--wait", "SECONDS", "how long to wait until it is reached; without it, 60")

    private static func live(
        _ name: String, _ summary: String, arguments: [ArgumentSpec] = [], _ options: [OptionSpec] = [],
        details: [String] = []
    ) -> CommandSpec {
        CommandSpec(
            name: "move \(name)", summary: summary, arguments: arguments,
            options: ends("FILE", "FILE") + [Self.name] + options + [json], details: details)
    }

    private static let live = [
        live(
            "start",
            "Runs a move while apps read and write: copies, carries their writes, and changes sides when asked to.",
            [
                OptionSpec(
                    "--journal", "FOLDER", "records what is copied; a later start continues from it",
                    completes: .folder),
                OptionSpec(
                    "--collections", "NAMES",
                    "only the documents of these collections, such as users,orders; without it, all"),
                OptionSpec(
                    "--linger", "SECONDS",
                    "how long it goes on at the end while no device comes late; without it, 60"),
                OptionSpec(
                    "--delete-extras", nil,
                    "deletes documents that only the target has, before reads are compared"),
            ],
            details: [
                "It runs until the move is done or given up. Ctrl-C stops it, at any point; the same command continues."
            ]),
        live("status", "Says how far a move is, what waits, and what is wrong."),
        live(
            "to", "Asks for a phase of the move, and waits for it.",
            arguments: [
                ArgumentSpec(
                    "PHASE", "idle, dual-write, shadow-read, cut-over or done",
                    completes: .words(["idle", "dual-write", "shadow-read", "cut-over", "done"]))
            ], [wait], details: ["There is no way back from “done”."]),
        live("back", "Asks for the phase before, and waits for it. What was written since comes along.", [wait]),
        live("pause", "Stops carrying. Apps go on, and their writes wait in the log."),
        live("resume", "Goes on after “move pause”."),
        live(
            "throttle", "Limits the copy, also while it runs.",
            arguments: [ArgumentSpec("N", "documents per second, or “none”")]),
        live(
            "compare", "Sets how many reads apps compare in the phase “shadow-read”.",
            arguments: [ArgumentSpec("PERCENT", "of all reads; 5 unless it is set")]),
        live("abort", "Gives the move up: the source serves alone, as before it began.", [wait]),
    ]
}
