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
            Runs the checks that every provider passes and prints a table.
            --config FILE   the clients to check, as a configuration in JSON; without it, the mock.
                            What needs somebody who reads mail or sends messages is skipped then. Signing up must
                            not ask for a confirmation, and the rules of the domain clients must be in place. With a
                            state folder, sessions and uploads are checked across restarts; with the key for it, the
                            administration of accounts is checked as well. A Supabase project with tables alone
                            (usesDocumentTable false) needs one for the storage checks, as --sql prints it; a table that
                            the file maps to conformance/{COLUMN}/items is used instead. All rows are deleted again.
            --sql           prints the statements that create this table, and runs nothing
            --client NAME   only the checks of one client: \(ConformanceCommand.clientNames)
            --filter TEXT   only the checks whose name holds TEXT
            --json          the whole report as JSON

        switchyard emulator firebase [--port N] [--folder PATH] [--project NAME] [--open] [--domain]
                                     [--claims NAME=VALUE] [--signed-tokens] [--origin URL]
            Runs a local Firebase for development and tests, on this machine only, and prints its addresses.
            --port N        where it listens; without it, a free port, with --folder the same again
            --folder PATH   where accounts, documents and files are kept; without it, in memory
            --origin URL    answers web pages of this origin, such as https://app.example.com, besides those on this
                            machine
            --project NAME  the project it serves; without it, demo-switchyard
            --open          everybody may do everything; otherwise only a user may write users/ID and below it, and all who are
                            signed in share the rest
            --domain        the rules for users, contacts, check-ins and notifications, as “firebase rules” prints them
            --claims …      custom claims of every new account, such as role=authenticated for Supabase
            --signed-tokens ID tokens are signed, as in production; otherwise they are not, as in the vendor's emulator

        switchyard emulator supabase [--port N] [--folder PATH] [--database URL] [--bucket NAME] [--open]
                                     [--domain] [--trust-firebase URL] [--confirm] [--origin URL]
            Runs a local Supabase on a real PostgreSQL, on this machine only, with the functions for documents, and prints
            its addresses and keys.
            --port N        where it listens; without it, a free port, with --folder the same again
            --folder PATH   where the database and files are kept, and the keys; without it, they are gone when it ends
            --origin URL    answers web pages of this origin, such as https://app.example.com, besides those on this
                            machine
            --database URL  a PostgreSQL to use, postgresql://USER@127.0.0.1:PORT/NAME, that asks for no password;
                            without it, one of its own is started. The database of a real project is refused
            --bucket NAME   a private bucket where files belong to whoever uploads them; other buckets, and policies
                            for them, are yours to make
            --open          everybody may do everything with files, whatever the policies say
            --domain        the rules for users, contacts, check-ins and notifications, as “supabase install --domain”
            --trust-firebase URL
                            takes the tokens of the local Firebase at this address; of another vendor's emulator,
                            name the project. Accounts need --claims role=authenticated there
            --confirm       new addresses are to be confirmed; the mail is at /_supabase/sent
            --schemas …     schemas exposed by the REST API, such as public,shop
            --aggregates    the REST API computes sums and averages, which hosted projects do not allow by default
            --providers …   identity providers to enable, such as github,google
            --phone-codes NUMBER=CODE
                            numbers that always get the same code

        switchyard emulator all [--firebase-port N] [--supabase-port N] and the options of both except --port and
                               --trust-firebase
            Runs both: accounts of the local Firebase may use the local Supabase. Without --claims accounts have
            role=authenticated; without --bucket there is one called files.

        switchyard firebase rules
            Prints the security rules for users, contacts, check-ins and notifications, as a file for Firestore.

        switchyard supabase install (--print [--editor] | --database URL | --explain) [--documents] [--messages] [--domain]
                                    [--rows] [--anon]
            Puts what documents and messages on Supabase need into a database, or brings it up to date, and says what this
            role could not put there, with the statement for somebody who can.
            --print         prints the SQL for psql, which ends with the first error
            --editor        without what only psql understands, for the SQL editor of Supabase's dashboard
            --database URL  runs it: postgresql://USER@127.0.0.1:PORT/NAME, on this machine and without a password
            --explain       lists every object that would be there, why, and who may use it; installs nothing
            --documents     documents only; of the parts, several may be named, now or later. Without --documents,
                            --messages and --rows: documents and messages\(Set<SchemaPart>.includesRows ? ", and rows" : "")
            --messages      messages and registrations for push messages only
            --domain        with the rules for users, contacts, check-ins and notifications, which need documents
            --rows          rows of your own tables as documents, for apps with an earlier version of this package; need
                            documents
            --anon          callers who are not signed in may call everything, and the rules and policies alone decide;
                            otherwise they may call what a rule “public” opens

        switchyard supabase uninstall (--print [--editor] | --database URL [--yes]) [--documents] [--messages] [--domain]
                                      [--rows] [--keep-data]
            Lists what it would remove, asks, and removes it: the parts that are named, with what needs them, or
            everything. It removes older versions as well.
            --keep-data     tables stay, with their contents; no one but their owner can use them then
            --yes           does not ask

        switchyard help
            This text.

        Exit status: 0 if all is well, 1 if something failed, 2 if the command was not understood.
        """
}
