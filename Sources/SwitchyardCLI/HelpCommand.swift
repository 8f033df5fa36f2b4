import SwitchyardSupabase

/// `switchyard help`
struct HelpCommand {
    init() {}

    init(_ words: [String]) throws(UsageError) {
        guard let name = words.first else { return }
        guard words.count == 1 else { throw UsageError("“help” takes the name of one command") }
        guard CommandLineTool.commands.contains(name) else {
            throw UsageError.unknown("command", name, among: CommandLineTool.commands)
        }
    }

    func run() -> ExitStatus {
        Terminal.print(HelpCommand.text)
        return .success
    }

    static let text = """
        switchyard: command-line tool of the Switchyard package

        switchyard demo
            Plays the day of a check-in app on the mock provider and prints what happens.

        switchyard conformance [--config FILE] [--client NAME] [--filter TEXT] [--json] | --sql
            Runs the checks that every provider passes, and prints a table.
            --config FILE   the clients to check, as a configuration in JSON; without it, the mock.
                            Checks that need someone to read emails or send messages are skipped then. Signing up must
                            not require a confirmation, and the rules of the domain clients must be in place. A state
                            folder adds the checks of sessions and uploads across restarts; a project credential adds
                            account management. A Supabase project with tables alone (usesDocumentTable false) needs a
                            table for the storage checks, which --sql prints; a table that the file maps to
                            conformance/{COLUMN}/items is used instead. All rows are deleted again.
            --sql           prints the statements that create this table, and runs nothing
            --client NAME   only the checks of one client: \(ConformanceCommand.clientNames)
            --filter TEXT   only the checks whose name contains TEXT
            --json          prints the whole report as JSON

        switchyard emulator firebase [--port N] [--folder PATH] [--project NAME] [--open] [--domain]
                                     [--claims NAME=VALUE] [--signed-tokens] [--origin URL]
            Runs a local Firebase for development and tests, on this machine only, and prints its addresses.
            --port N        the port to listen on; without it, a free one, or with --folder the one of the last time
            --folder PATH   saves accounts, documents and files here; without it, they are in memory
            --origin URL    answers web pages of this origin, such as https://app.example.com, besides those on this
                            machine
            --project NAME  the project that it serves; without it, demo-switchyard
            --open          everyone may do everything; without it, only a user may write users/ID and below it, and all
                            who are signed in share the rest
            --domain        the rules for users, contacts, check-ins and notifications, as “firebase rules” prints them
            --claims …      custom claims of every new account, such as role=authenticated for Supabase
            --signed-tokens signs ID tokens, as in production; without it, they are unsigned, as from the vendor's
                            emulator

        switchyard emulator supabase [--port N] [--folder PATH] [--database URL] [--bucket NAME] [--open]
                                     [--domain] [--trust-firebase URL] [--confirm] [--origin URL] [--schemas NAMES]
                                     [--aggregates] [--no-gateway] [--providers NAMES] [--phone-codes NUMBER=CODE]
                                     [--no-linking] [--no-phone] [--signing-keys]
            Runs a local Supabase on a real PostgreSQL, on this machine only, with the SQL functions, and prints its
            addresses and keys.
            --port N        the port to listen on; without it, a free one, or with --folder the one of the last time
            --folder PATH   saves the database, files and keys here; without it, they are gone when it ends
            --origin URL    answers web pages of this origin, such as https://app.example.com, besides those on this
                            machine
            --database URL  the PostgreSQL to use, postgresql://USER@127.0.0.1:PORT/NAME, without a password; without this
                            option, it starts one of its own. The database of a real project is refused
            --bucket NAME   a private bucket in which each file belongs to the user who uploaded it; create other buckets,
                            and policies for them, yourself
            --open          everyone may do everything with files, whatever the policies say
            --domain        the rules for users, contacts, check-ins and notifications, as “supabase install --domain”
            --trust-firebase URL
                            accepts the tokens of the local Firebase at this address; for the vendor's emulator, pass the
                            project's ID. Its accounts need --claims role=authenticated
            --confirm       new email addresses have to be confirmed; the emails are at /_supabase/sent
            --schemas …     schemas exposed by the REST API, such as public,shop
            --aggregates    the REST API computes sums and averages, which hosted projects do not allow by default
            --no-gateway    answers as the services do alone, without the gateway of hosted projects, which demands a key
            --providers …   identity providers to enable, such as github,google
            --phone-codes NUMBER=CODE
                            a phone number that always gets this code of six digits; separate several with commas
            --no-linking    users cannot add identities to their account or remove them, as in hosted projects by default
            --no-phone      no one signs up or in by phone, as in hosted projects without a provider of messages
            --signing-keys  access tokens are signed with a key whose public half is published, as in new hosted
                            projects; without it, with the project's secret

        switchyard emulator all [--firebase-port N] [--supabase-port N] and the options of both, except --port and
                               --trust-firebase
            Runs both: accounts of the local Firebase may use the local Supabase. Without --claims, accounts have
            role=authenticated; without --bucket, there is one called files.

        switchyard firebase rules
            Prints the security rules for users, contacts, check-ins and notifications, as a file for Firestore.

        switchyard supabase install (--print [--editor] | --database URL | --explain) [--documents] [--messages] [--domain]
                                    [--rows] [--anon]
            Installs in a database what documents and messages on Supabase need, or updates it. Reports what this role may
            not create, with the statements for an administrator.
            --print         prints the SQL for psql, which stops at the first error
            --editor        leaves out what only psql understands, for the SQL editor of Supabase's dashboard
            --database URL  runs it in postgresql://USER@127.0.0.1:PORT/NAME, on this machine and without a password
            --explain       lists every object that would be created, why, and who may use it; installs nothing
            --documents     documents only. You can name several parts, now or later; without --documents, --messages and
                            --rows: documents and messages\(Set<SchemaPart>.includesRows ? ", and rows" : "")
            --messages      messages, and registrations for push messages, only
            --domain        adds the rules for users, contacts, check-ins and notifications; needs documents
            --rows          rows of your own tables as documents, for apps with an earlier version of this package; needs
                            documents
            --anon          callers who are not signed in may call every function, and only rules and policies decide;
                            without it, they may call what a rule “public” opens

        switchyard supabase uninstall (--print [--editor] | --database URL [--yes]) [--documents] [--messages] [--domain]
                                      [--rows] [--keep-data]
            Lists what it would remove, asks, and removes it: the named parts and what needs them, or everything. Older
            versions are removed as well.
            --keep-data     keeps the tables and their contents; only their owner can use them then
            --yes           does not ask

        switchyard adapter [\(Adapter.names.joined(separator: " | ")) [--output FILE]]
            Prints one Swift file for your own package, which then uses Switchyard with another library: swift-dependencies,
            swift-sharing, Vapor, Hummingbird, swift-log or swift-metrics. Without a name, it lists the files.
            --output FILE   writes the file instead; one that exists is never replaced

        switchyard move plan --from FILE|FOLDER --to FILE|FOLDER [--collections NAMES] [--thorough] [--hashes FILE] [--json]
            Prints what a move between two backends would copy, what it costs, and what cannot come along. FILE is a
            configuration in JSON with a project credential, FOLDER an archive.
            --collections …  only the documents of these collections, such as users,orders; without it, all that the source
                             lists
            --thorough       reads all documents for the plan, to find every collection and value
            --hashes FILE    password hashes, one account per line:
                             {"id":"…","passwordHash":{"kind":"bcrypt","hash":"$2b$10$…"}}
            --json           prints JSON

        switchyard move run (the options of “move plan”) --journal FOLDER [--plan FILE] [--throttle N] [--ramp-from N]
                            [--owner-fields NAMES]
            Copies accounts, documents and files. The source is only read. Ctrl-C stops it; the same command continues.
            --journal FOLDER records what is done, new IDs of accounts, and what the target rejects
            --plan FILE      a plan from “move plan --json”; without it, a new one
            --throttle N     at most N documents per second
            --ramp-from N    begins with N documents per second, and raises that by half every five minutes
            --owner-fields … fields with IDs of accounts, rewritten where an account gets another ID

        switchyard move verify (the options of “move plan”) [--journal FOLDER] [--plan FILE] [--repair]
            Compares both ends: a hash of each collection, each account, the checksum of each file. Lists what differs.
            --repair         copies again what differs or is missing; what only the target has stays

        switchyard move export --from FILE --to FOLDER, and the options of “move run”
        switchyard move import --from FOLDER --to FILE, and the options of “move run”
            The same to and from an archive, which has a documented format. Without --journal, it is in the archive's folder.

        switchyard help
            Prints this text.

        Exit status: 0 for success, 1 if something failed, 2 if the command line was not understood.
        """
}
