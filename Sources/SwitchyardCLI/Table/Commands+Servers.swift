extension Commands {
    private static let origin = OptionSpec(
        "--origin", "URL",
        "answers web pages of this origin, such as https://app.example.com, besides those on this machine")
    private static let domain = OptionSpec(
        "--domain", nil, "the rules for users, contacts, check-ins and notifications")

    private static func port(_ name: String) -> OptionSpec {
        OptionSpec(
            name, "N", "the port to listen on; without it, a free one, or with --folder the one of the last time")
    }

    private static let page = [
        OptionSpec("--page-port", "N", "the port of the page that shows what happens; without it, a free one"),
        OptionSpec("--no-page", nil, "starts no page"),
        OptionSpec(
            "--import", "FOLDER",
            "begins with what “switchyard move export” or --export has written there: documents, accounts and files",
            completes: .folder),
        OptionSpec("--export", "FOLDER", "writes all of that there when it ends", completes: .folder),
        OptionSpec(
            "--faults", "FILE", "begins with these faults: a JSON list of what POST /_faults takes", completes: .file),
        OptionSpec("--log", nil, "prints a line for each request: who, what, and how it ended"),
    ]

    private static let firebaseOnly = [
        OptionSpec("--project", "NAME", "the project that it serves; without it, demo-switchyard"),
        OptionSpec(
            "--claims", "NAME=VALUE", "custom claims of every new account, such as role=authenticated for Supabase"),
        OptionSpec(
            "--signed-tokens", nil,
            "signs ID tokens, as in production; without it, they are unsigned, as from the vendor's emulator"),
    ]

    private static let supabaseOnly = [
        OptionSpec(
            "--database", "URL",
            "the PostgreSQL to use, postgresql://USER@127.0.0.1:PORT/NAME, without a password; without this option, it starts "
                + "one of its own. The database of a real project is refused"),
        OptionSpec(
            "--bucket", "NAME",
            "a private bucket in which each file belongs to the user who uploaded it; create other buckets, and policies for "
                + "them, yourself"),
        OptionSpec("--confirm", nil, "new email addresses have to be confirmed; the emails are at /_supabase/sent"),
        OptionSpec("--schemas", "NAMES", "schemas exposed by the REST API, such as public,shop"),
        OptionSpec(
            "--aggregates", nil,
            "the REST API computes sums and averages, which hosted projects do not allow by default"),
        OptionSpec(
            "--no-gateway", nil,
            "answers as the services do alone, without the gateway of hosted projects, which demands a key"),
        OptionSpec("--providers", "NAMES", "identity providers to enable, such as github,google"),
        OptionSpec(
            "--phone-codes", "NUMBER=CODE",
            "a phone number that always gets this code of six digits; separate several with commas"),
        OptionSpec(
            "--no-linking", nil,
            "users cannot add identities to their account or remove them, as in hosted projects by default"),
        OptionSpec(
            "--no-phone", nil,
            "no one signs up or in by phone, as in hosted projects without a provider of messages"),
        OptionSpec(
            "--signing-keys", nil,
            "access tokens are signed with a key whose public half is published, as in new hosted projects; without it, with "
                + "the project's secret"),
    ]

    static let servers = [
        CommandSpec(
            name: "emulator firebase",
            summary:
                "Runs a local Firebase for development and tests, on this machine only, and prints its addresses.",
            options: [
                port("--port"),
                OptionSpec(
                    "--folder", "PATH", "saves accounts, documents and files here; without it, they are in memory",
                    completes: .folder),
                OptionSpec(
                    "--open", nil,
                    "everyone may do everything; without it, only a user may write users/ID and below it, and all who are "
                        + "signed in share the rest"), domain, origin,
            ] + firebaseOnly + page, examples: ["emulator firebase --port 9099 --folder .firebase"]),
        CommandSpec(
            name: "emulator supabase",
            summary:
                "Runs a local Supabase on a real PostgreSQL, on this machine only, with the SQL functions, and prints its "
                + "addresses and keys.",
            options: [
                port("--port"),
                OptionSpec(
                    "--folder", "PATH",
                    "saves the database, files and keys here; without it, they are gone when it ends",
                    completes: .folder
                ),
                OptionSpec("--open", nil, "everyone may do everything with files, whatever the policies say"), domain,
                origin,
                OptionSpec(
                    "--trust-firebase", "URL",
                    "accepts the tokens of the local Firebase at this address; for the vendor's emulator, pass the project's "
                        + "ID. Its accounts need --claims role=authenticated"),
            ] + supabaseOnly + page, examples: ["emulator supabase --port 54321 --bucket files"]),
        CommandSpec(
            name: "emulator all",
            summary: "Runs both: accounts of the local Firebase may use the local Supabase.",
            options: [
                port("--firebase-port"), port("--supabase-port"),
                OptionSpec("--folder", "PATH", "saves everything here", completes: .folder),
                OptionSpec("--open", nil, "everyone may do everything with documents of Firebase, and with files"),
                domain,
                origin,
            ] + firebaseOnly + supabaseOnly + page,
            details: [
                "Without --claims, accounts have role=authenticated; without --bucket, there is one called files."
            ]),
        CommandSpec(
            name: "page", summary: "Serves a page that shows and changes what a configured backend has.",
            options: [
                config, state,
                OptionSpec("--port", "N", "the port to listen on; without it, a free one"),
            ],
            details: [
                "The page acts with the project credential of the configuration if there is one, and otherwise as the user who is "
                    + "signed in with “sign-in”. It is for this machine only, and for whoever has the key in the printed address. "
                    + "Local servers have a page of their own, which shows their requests as well."
            ],
            examples: ["page --config backend.json"]),
    ]
}
