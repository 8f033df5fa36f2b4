import Foundation
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardTestSupport
import Testing

@testable import SwitchyardSupabase

/// What the tool says that an installation has, and what it has.
@Suite(.enabled(if: PostgresServer.isInstalled, "PostgreSQL is not installed"))
struct SchemaInventoryTests {
    static let choices: [Set<SchemaPart>] = [
        [.documents], [.messages], [.documents, .domain], [.documents, .rows], [.documents, .messages],
        Set(SchemaPart.allCases),
    ]

    /// All that is in the schema `switchyard` or has such a name elsewhere, but for the indexes of constraints.
    private static let found = """
        select 'function ' || n.nspname || '.' || p.proname || case when p.prosecdef then ' definer' else '' end
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace
          where p.prokind = 'f' and (n.nspname = 'switchyard' or p.proname like 'switchyard%')
        union all select 'aggregate switchyard.' || p.proname from pg_proc p
          where p.prokind = 'a' and p.pronamespace = 'switchyard'::regnamespace
        union all select case c.relkind when 'r' then 'table ' else 'index ' end || 'switchyard.' || c.relname from pg_class c
          where c.relnamespace = 'switchyard'::regnamespace and c.relkind in ('r', 'i', 'S', 'v', 'm', 'p')
            and not exists (select from pg_constraint k where k.conindid = c.oid)
        union all select 'policy ' || p.polname || ' on ' || n.nspname || '.' || c.relname
          from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
          where n.nspname = 'switchyard' or p.polname like 'switchyard%'
        union all select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass from pg_trigger t
          join pg_proc p on p.oid = t.tgfoid where p.pronamespace = 'switchyard'::regnamespace and not t.tgisinternal
        union all select format('grant %s on switchyard.%s to %s', case when count(*) >= 7 then 'all' else string_agg(lower(a.privilege_type), ', ') end,
            c.relname, pg_get_userbyid(a.grantee))
          from pg_class c, aclexplode(c.relacl) a
          where c.relnamespace = 'switchyard'::regnamespace and a.grantee <> c.relowner group by c.relname, a.grantee
        union all select 'publication ' || p.pubname from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
          join pg_class c on c.oid = r.prrelid where c.relnamespace = 'switchyard'::regnamespace
        """

    /// The same of the list. A grant names several tables or roles.
    private static func listed(_ parts: Set<SchemaPart>) -> Set<String> {
        Set(
            SchemaInventory.all.objects(of: parts).flatMap { object -> [String] in
                guard object.kind == .grant else {
                    return ["\(object.kind) \(object.name)\(object.isDefiner ? " definer" : "")"]
                }
                let halves = object.name.components(separatedBy: " on ")
                let ends = halves[1].components(separatedBy: " to ")
                guard ends[0].hasPrefix("switchyard."), ends[1] != "anon" else { return [] }
                return ends[0].components(separatedBy: ", ").flatMap { place in
                    ends[1].components(separatedBy: ", ").map { "grant \(halves[0]) on \(place) to \($0)" }
                }
            })
    }

    @Test func `Each object has its reason, and each function with its owner's rights what it checks`() {
        let objects = SchemaInventory.all.objects
        #expect(objects.filter { $0.reason == nil }.map(\.name) == [])
        #expect(objects.filter { $0.isDefiner && $0.checks == nil }.map(\.name) == [])
        #expect(Set(SchemaReasons.reasons.keys).subtracting(objects.map(\.name)) == [])
        #expect(Set(SchemaReasons.checks.keys).subtracting(objects.filter(\.isDefiner).map(\.name)) == [])
        #expect(Set(objects.map { "\($0.kind) \($0.name)" }).count == objects.count)
    }

    @Test(arguments: choices)
    func `What is listed is what the database has, no more and no less`(parts: Set<SchemaPart>) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        // The vendor's schemas.
        var options = LocalSupabaseOptions()
        options.database = server.place
        await (try LocalSupabase(options)).stop()
        try await server.query(DocumentSchema.installation(of: parts))
        let found = Set(try await server.query(Self.found).split(separator: "\n").map(String.init))
        let listed = Self.listed(parts)
        #expect(found.subtracting(listed) == [], "not listed")
        #expect(listed.subtracting(found) == [], "not there")
        #expect(try await server.query("select has_schema_privilege('anon', 'switchyard', 'usage')") == "t")
    }

    @Test(arguments: [("none", "none"), ("public", "none"), ("none", "public")])
    func `Who may call a function is as the list says`(read: String, write: String) async throws {
        let server = try await PostgresServer()
        defer { server.stop() }
        try await server.query(DocumentSchema.installation(of: [.documents, .messages, .domain]))
        try await server.query("insert into switchyard.rules values ('posts', '\(read)', '\(write)')")
        func wanted(_ callers: SchemaObject.Callers) -> String {
            let anon =
                switch callers {
                case .everybody: true
                case .readers: read == "public"
                case .writers, .callers: write == "public"
                case .users, .ownerOnly: false
                }
            return anon ? "anon authenticated service_role" : callers == .ownerOnly ? "" : "authenticated service_role"
        }
        let rows = try await server.query(
            """
            select n.nspname || '.' || p.proname, coalesce(string_agg(r.name, ' ' order by r.name)
                filter (where has_function_privilege(r.name, p.oid, 'execute')), '')
              from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
                unnest(array['anon', 'authenticated', 'public', 'service_role']) r (name)
              where n.nspname = 'switchyard' or p.proname like 'switchyard%' group by 1
            """)
        let found = Dictionary(
            uniqueKeysWithValues: rows.split(separator: "\n").map { row in
                let halves = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                return (halves[0], halves[1])
            })
        for object in SchemaInventory.all.objects(of: [.documents, .messages, .domain]) {
            guard let callers = object.callers else { continue }
            #expect(found[object.name] == wanted(callers), "\(object.name)")
        }
    }

    @Test func `The explanation has a line for each object`() {
        let lines = DocumentSchema.explanation(of: Set(SchemaPart.allCases)).split(separator: "\n").map(String.init)
        for object in SchemaInventory.all.objects {
            let own = lines.filter { $0.hasPrefix("  \(object.kind) \(object.name): ") }
            #expect(own.count == 1, "\(object.name)")
            #expect(own.first?.contains("SECURITY DEFINER; checks ") == object.isDefiner, "\(object.name)")
        }
        #expect(!lines.contains { $0.contains("unknown") })
        #expect(!DocumentSchema.explanation(of: [.messages]).contains("switchyard_get"))
    }

    @Test func `Whoever guards a database reads fewer than sixty functions of documents, messages and domain`() {
        let functions = SchemaInventory.all.objects.filter { $0.callers != nil && $0.part != nil && $0.part != .rows }
        #expect(functions.count < 60)
        #expect(functions.count(where: \.isDefiner) < 25)
    }

    @Test func `The page for the database's owner has the numbers as they are`() throws {
        let folder = Article.root.appendingPathComponent("Plugins/SwitchyardSupabase/Documentation.docc")
        let page = try String(contentsOf: folder.appendingPathComponent("DatabaseOwner.md"), encoding: .utf8)
        func lines(_ files: [SchemaFile]) -> Int {
            files.flatMap { $0.sql.split(separator: "\n") }.count { line in
                !line.drop { $0 == " " }.hasPrefix("--") && line.contains { $0 != " " }
            }
        }
        func row(_ part: SchemaPart?) -> String {
            let functions = SchemaInventory.all.objects.filter { $0.part == part && $0.callers != nil }
            let count = lines(part?.files ?? [.common, .check])
            return "| \(part?.rawValue ?? "every part") | \(count) | \(functions.count) "
                + "| \(functions.count(where: \.isDefiner)) | \(functions.count { $0.callers == .everybody }) |"
        }
        for part in [nil] + SchemaPart.allCases.map(Optional.init) {
            #expect(page.contains("\n\(row(part))\n"), "\(row(part))")
        }
    }
}
