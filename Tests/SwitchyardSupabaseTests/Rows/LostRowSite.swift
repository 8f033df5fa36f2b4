import Switchyard
import SwitchyardLocalSupabase
import SwitchyardServerKit
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// A write, with the rows before and after it.
enum LostWrite: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case set, add, merge, update, create, delete, increment, setSeveral, createSeveral, deleteSeveral

    var testDescription: String { rawValue }

    /// `a=1 b=2` for the numbers of rows, each with its name as text.
    var before: String {
        switch self {
        case .add, .create, .createSeveral: ""
        case .set, .merge, .update, .delete, .increment: "a=1"
        case .setSeveral: "a=1 b=2"
        case .deleteSeveral: "a=1 b=2 c=3"
        }
    }

    var after: String {
        switch self {
        case .set, .add, .create: "a=7"
        case .merge, .update: "a=7"
        case .delete: ""
        case .increment: "a=4"
        case .setSeveral, .createSeveral: "a=7 b=8 c=9"
        case .deleteSeveral: "b=2"
        }
    }

    func batch(in items: CollectionPath) throws(StorageError) -> WriteBatch {
        let (a, b, c) = (items.document("a"), items.document("b"), items.document("c"))
        let writes: [DocumentWrite] =
            switch self {
            case .set, .add: [try .set(a, ["text": "a", "number": 7])]
            case .merge: [try .merge(a, ["number": 7])]
            case .update: [try .update(a, ["number": 7])]
            case .create: [try .create(a, ["text": "a", "number": 7])]
            case .delete: [.delete(a)]
            case .increment: [try .update(a, ["number": .increment(3)])]
            case .setSeveral:
                [
                    try .set(a, ["text": "a", "number": 7]), try .set(b, ["text": "b", "number": 8]),
                    try .set(c, ["text": "c", "number": 9]),
                ]
            case .createSeveral:
                [
                    try .create(a, ["text": "a", "number": 7]), try .create(b, ["text": "b", "number": 8]),
                    try .create(c, ["text": "c", "number": 9]),
                ]
            case .deleteSeveral: [.delete(a), .delete(c)]
            }
        return WriteBatch(writes)
    }
}

/// A project with a table, and a device that has read its rows.
struct LostRowSite: Sendable {
    let supabase: LocalSupabase
    let client: SyncedStorageClient
    private let database: PostgresConnection

    init() async throws {
        supabase = try await LocalSupabase.onSharedPostgres()
        database = try await supabase.database.connect()
        try await database.run(script: PlainTableHarness.sql(.text))
        // Pauses and the time until a write can no longer land are over at once; the deadlines of calls are not.
        let clock = JumpingClock(keepsDeadlines: true)
        let service = PostgRESTService(
            project: try SupabaseProject(supabase.server.url),
            tokens: SupabaseTokens(key: Secret(supabase.accessToken(for: "tester")), auth: nil),
            transport: CurlTransport(), clock: clock)
        let tables = try TableMappings([PlainTableHarness.mapping(.text)], usesDocuments: false)
        client = SyncedStorageClient(
            driver: SupabaseDriver(service: service, tables: tables, clock: clock), clock: clock)
    }

    /// - Returns: The rows of a parent, in order.
    func rows(of parent: String) async throws -> String {
        try await database.run(
            script: """
                select coalesce(string_agg(text || '=' || number, ' ' order by id), '') from public.plain_text
                  where parent = '\(parent)'
                """
        ).first?.text ?? ""
    }

    func insert(_ rows: String, under parent: String) async throws {
        for row in rows.split(separator: " ") {
            let parts = row.split(separator: "=")
            try await database.run(
                script: """
                    insert into public.plain_text (parent, id, text, number)
                      values ('\(parent)', '\(parts[0])', '\(parts[0])', \(parts[1]))
                    """)
        }
    }

    func run(_ sql: String) async throws { try await database.run(script: sql) }

    func stop() async {
        await client.shutDown()
        database.close()
        await supabase.stop()
    }

    /// Answers as a gateway that has not reached the service: no one can know whether the request was carried out.
    static let gatewayFailure = Fault.answer(
        ServerResponse(
            status: 502, headers: ["Content-Type": "text/html"], body: Array("<html>502 Bad Gateway</html>".utf8)))

    /// Whether a request is about the rows.
    static func isForRows(_ request: ServerRequest) -> Bool { request.rawPath.hasSuffix("/plain_text") }
}
