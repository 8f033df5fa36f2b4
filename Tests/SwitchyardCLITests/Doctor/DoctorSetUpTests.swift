import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSupabase
import SwitchyardTestSupport
import Testing

@testable import SwitchyardCLI

/// Wrong set-ups on the local servers: the doctor names the cure, and with the cure the check passes.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"), .timeLimit(.minutes(3)))
struct DoctorSetUpTests {
    // MARK: Running the doctor

    private func examine(_ json: String, _ options: DoctorOptions = DoctorOptions()) async throws -> [Finding] {
        var options = options
        // A write that cannot be sent waits this long.
        options.patience = .seconds(3)
        let findings = Findings()
        let configuration: InfrastructureConfiguration
        do throws(InfrastructureError) {
            configuration = try InfrastructureConfiguration(json: Data(json.utf8), environment: [:])
        } catch {
            return [.wrong("configuration", error.message, cure: Cure.configuration(error))]
        }
        await Doctor(configuration, options, findings).run()
        return findings.list
    }

    /// Expects a finding that is not fine, and returns its cure.
    private func cure(
        of check: String, in findings: [Finding], says: String, _ mark: Finding.Mark = .wrong,
        at location: SourceLocation = #_sourceLocation
    ) throws -> String {
        let found = findings.first { $0.check == check && $0.mark != .fine }
        let all = Comment(rawValue: findings.map { $0.lines(hasColour: false) }.joined(separator: "\n"))
        let finding = try #require(found, all, sourceLocation: location)
        #expect(finding.mark == mark, all, sourceLocation: location)
        let cure = try #require(finding.cure, all, sourceLocation: location)
        #expect(cure.contains(says), all, sourceLocation: location)
        return cure
    }

    private func expectFine(_ check: String, in findings: [Finding], at location: SourceLocation = #_sourceLocation) {
        let all = Comment(rawValue: findings.map { $0.lines(hasColour: false) }.joined(separator: "\n"))
        #expect(findings.contains { $0.check == check && $0.mark == .fine }, all, sourceLocation: location)
        #expect(!findings.contains { $0.check == check && $0.mark != .fine }, all, sourceLocation: location)
    }

    // MARK: Servers

    private struct Project {
        let server: PostgresServer
        let supabase: LocalSupabase
        var database: DatabaseAddress {
            get throws { try DatabaseAddress("postgresql://postgres@127.0.0.1:\(server.port)/\(server.name)") }
        }
        var options: DoctorOptions {
            get throws {
                var options = DoctorOptions()
                options.database = try database
                return options
            }
        }

        init(_ change: (inout LocalSupabaseOptions) -> Void = { _ in }, on server: PostgresServer? = nil) async throws {
            let server = if let server { server } else { try await PostgresServer() }
            self.server = server
            var options = LocalSupabaseOptions()
            options.database = server.place
            options.scripts = [DocumentSchema.sql]
            options.buckets = ["files"]
            change(&options)
            supabase = try await LocalSupabase(options)
        }

        func json(
            url: String? = nil, key: String? = nil, bucket: String = "files", more: String = ""
        ) -> String {
            """
            {"default":"supabase","clients":{"messaging":"none"},"providers":{"supabase":{"url":"\(url ?? supabase.server.url)",
             "key":"\(key ?? supabase.anonKey)","bucket":"\(bucket)"\(more)}}}
            """
        }

        func stop() async {
            await supabase.stop()
            server.stop()
        }
    }

    private static let table = """
        create table public.notes (id text primary key, owner uuid default auth.uid(), words text);
        alter table public.notes enable row level security;
        grant select, insert, update, delete on public.notes to authenticated;
        """
    private static let mapping =
        #","usesDocumentTable":false,"tables":[{"collection":"notes","table":"notes","fields":{"words":"words"}}]"#
    private static let policy = "create policy own on public.notes to authenticated using (owner = auth.uid());"
    private static let publication = "alter publication supabase_realtime add table public.notes;"

    private static func firebase(_ server: LocalFirebase, project: String? = nil) -> String {
        """
        {"default":"firebase","clients":{"messaging":"none","files":"none"},"providers":{"firebase":{
         "project":"\(project ?? server.project)","apiKey":"any","emulators":{"auth":"\(server.host)","firestore":"\(server.host)"}}}}
        """
    }

    // MARK: Keys and addresses

    @Test func `A key of another project, an expired one, and a secret key in its place`() async throws {
        let project = try await Project()
        let wrong = try await examine(project.json(key: String(project.supabase.anonKey.dropLast(6)) + "AAAAAA"))
        _ = try cure(of: "key", in: wrong, says: "copy the publishable key of this very project")

        let claims: JSON = ["role": "anon", "exp": 1_000_000]
        let expired = ["e30", Base64.encode(claims.bytes(), alphabet: .url), "c2ln"].joined(separator: ".")
        let old = try await examine(project.json(key: expired))
        _ = try cure(of: "key", in: old, says: "copy the publishable key")
        #expect(old.first { $0.check == "key" }?.text.contains("expired at 1970-01-12T13:46:40Z") == true)

        let secret = try await examine(project.json(key: project.supabase.serviceKey))
        _ = try cure(of: "configuration", in: secret, says: "\"key\": \"sb_publishable_…\"")

        let right = try await examine(project.json())
        expectFine("configuration", in: right)
        expectFine("key", in: right)
        #expect(!right.contains { $0.mark == .wrong })
        await project.stop()
    }

    @Test func `A clock that is off`() async throws {
        let firebase = try LocalFirebase()
        var options = DoctorOptions()
        options.now = { Timestamp(Date(timeIntervalSinceNow: -7200)) }
        let late = try await examine(Self.firebase(firebase), options)
        #expect(try cure(of: "clock", in: late, says: "timedatectl") == "sudo timedatectl set-ntp true")
        #expect(late.first { $0.check == "clock" }?.text.contains("2 h 0 min behind the server's") == true)
        expectFine("clock", in: try await examine(Self.firebase(firebase)))
        await firebase.stop()
    }

    @Test func `TLS where there is none, and a port at which no one listens`() async throws {
        let firebase = try LocalFirebase()
        let right = Self.firebase(firebase)
        let hosts = """
            {"default":"firebase","clients":{"messaging":"none","files":"none"},"providers":{"firebase":{"project":"demo-switchyard",
             "apiKey":"AIza-x","hosts":{"identityToolkit":"https://\(firebase.host)"},"emulators":{"firestore":"\(firebase.host)"}}}}
            """
        _ = try cure(of: "tls", in: try await examine(hosts), says: "write http:// in place of https://")
        expectFine("tls", in: try await examine(right))

        await firebase.stop()
        let closed = try await examine(right)
        let words = try cure(of: "address", in: closed, says: "switchyard emulator firebase --port \(firebase.port)")
        // Exactly this command, in a process.
        let command = try #require(words.components(separatedBy: "switchyard ").last)
        let program = try ToolRun(command.split(separator: " ").map(String.init))
        _ = try await program.variables(with: "GCLOUD_PROJECT")
        expectFine("address", in: try await examine(right))
        _ = try await program.end()
    }

    @Test func `Another project`() async throws {
        let firebase = try LocalFirebase()
        let other = try await examine(Self.firebase(firebase, project: "demo-other"))
        _ = try cure(of: "write", in: other, says: "take apiKey and project from the same project")
        expectFine("write", in: try await examine(Self.firebase(firebase)))
        await firebase.stop()
    }

    @Test func `Accounts without the claim of a role`() async throws {
        let bare = try LocalFirebase()
        var options = LocalFirebaseOptions()
        options.claims = ["role": "authenticated"]
        let claiming = try LocalFirebase(options)
        for (firebase, isRight) in [(bare, false), (claiming, true)] {
            let accepted = try FirebaseProject(firebase.project, keys: firebase.publishedKeys)
            let project = try await Project({ $0.firebase = accepted })
            let json = """
                {"default":"supabase","clients":{"messaging":"none","files":"none","auth":"firebase"},"providers":{
                 "supabase":{"url":"\(project.supabase.server.url)","key":"\(project.supabase.anonKey)"},
                 "firebase":{"project":"\(firebase.project)","apiKey":"any","emulators":{"auth":"\(firebase.host)","firestore":"\(firebase.host)"}}}}
                """
            let findings = try await examine(json)
            if isRight {
                expectFine("write", in: findings)
            } else {
                _ = try cure(of: "write", in: findings, says: "--claims role=authenticated")
            }
            await project.stop()
            await firebase.stop()
        }
    }

    // MARK: The database

    @Test func `Functions that are missing, and old ones`() async throws {
        let project = try await Project({ $0.scripts = [] })
        let missing = try await examine(project.json(), project.options)
        let command = try cure(
            of: "functions", in: missing, says: "switchyard supabase install --database postgresql://")
        func install() async throws {
            #expect(
                try await CommandLineTool.run(command.split(separator: " ").dropFirst().map(String.init)) == .success)
        }
        try await install()
        let right = try await examine(project.json(), project.options)
        for check in ["functions", "database", "write", "stream"] { expectFine(check, in: right) }

        try await project.server.query(
            """
            create or replace function public.switchyard_schema() returns jsonb language sql as $$ select '{"version":2}'::jsonb $$;
            """)
        let old = try await examine(project.json(), project.options)
        #expect(try cure(of: "functions", in: old, says: "supabase install") == command)
        #expect(old.first { $0.check == "functions" }?.text.contains("version 2 is installed") == true)
        try await install()
        expectFine("functions", in: try await examine(project.json(), project.options))
        // Without access to the database, the cure is for any.
        #expect(Cure.installation(nil) == "switchyard supabase install --print | psql \"$DATABASE_URL\"")
        await project.stop()
    }

    @Test func `A table without policies, without announcements, and without grants`() async throws {
        let project = try await Project()
        try await project.server.query(Self.table)
        let json = project.json(more: Self.mapping)
        let bare = try await examine(json, project.options)
        let policies = try cure(of: "policies notes", in: bare, says: "create policy own on public.notes")
        _ = try cure(of: "rights notes", in: bare, says: "create policy", .remark)
        try await project.server.query(policies)
        let publication = try cure(
            of: "publication notes", in: bare, says: "alter publication supabase_realtime add table public.notes")
        #expect(
            try cure(
                of: "realtime", in: bare, says: "alter publication supabase_realtime add table public.notes;", .remark)
                == publication)
        try await project.server.query(publication)
        let right = try await examine(json, project.options)
        for check in ["policies notes", "publication notes", "realtime", "rights notes", "index notes"] {
            expectFine(check, in: right)
        }

        try await project.server.query("revoke insert, update, delete on public.notes from authenticated")
        let readOnly = try await examine(json, project.options)
        let grant = try cure(
            of: "rights notes", in: readOnly, says: "grant select, insert, update, delete on public.notes")
        try await project.server.query(grant)
        expectFine("rights notes", in: try await examine(json, project.options))
        #expect(try await project.server.query("select count(*) from public.notes") == "0")
        await project.stop()
    }

    @Test func `A cap on rows`() async throws {
        let project = try await Project({ $0.maximumRows = 2 })
        try await project.server.query(
            Self.table + Self.policy + Self.publication
                + "insert into public.notes (id) select g::text from generate_series(1, 5) g; grant all on public.notes to service_role;"
        )
        func json(_ project: Project) -> String {
            project.json(more: Self.mapping + #","serviceKey":"\#(project.supabase.serviceKey)""#)
        }
        let capped = try await examine(json(project))
        _ = try cure(of: "rows notes", in: capped, says: "raise it to 1000", .remark)
        #expect(capped.first { $0.check == "rows notes" }?.text.contains("at most 2 rows of 5") == true)
        expectFine("serviceKey", in: capped)
        expectFine("table notes", in: capped)
        expectFine("clean-up", in: capped)
        await project.supabase.stop()
        let wide = try await Project({ $0.maximumRows = 1000 }, on: project.server)
        expectFine("rows notes", in: try await examine(json(wide)))
        await wide.stop()
    }

    @Test func `A bucket that does not exist`() async throws {
        let project = try await Project()
        let missing = try await examine(project.json(bucket: "photos"))
        let sql = try cure(
            of: "files", in: missing, says: "insert into storage.buckets (id, name) values ('photos', 'photos')")
        try await project.server.query(sql)
        expectFine("files", in: try await examine(project.json(bucket: "photos")))
        #expect(try await project.server.query("select count(*) from storage.objects") == "0")
        await project.stop()
    }

    @Test func `A column that does not exist is named, with the one that was meant`() async throws {
        let project = try await Project()
        try await project.server.query(Self.table + "grant all on public.notes to service_role;")
        let mapping = Self.mapping.replacing(#":"words"}"#, with: #":"wrds"}"#)
        let findings = try await examine(
            project.json(more: mapping + #","serviceKey":"\#(project.supabase.serviceKey)""#))
        _ = try cure(of: "table notes", in: findings, says: "add column wrds")
        #expect(findings.first { $0.check == "table notes" }?.text.contains("did you mean “words”?") == true)
        await project.stop()
    }
}
