import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardSupabase

/// Queries that take the database longer than it allows, beside others that do not.
@Suite struct SlowTargetTests {
    /// A database in which whatever is asked about one of `slow` is stopped for taking too long.
    private static func watch(_ slow: Set<String>, rounds: Int) throws -> (SupabaseWatch, ScriptedTransport) {
        let read = ScriptedExchange.on(
            .post, "https://demo.supabase.co/rest/v1/rpc/switchyard_changes"
        ) { recorded in
            let targets = (try? JSON(parsing: recorded.body))?["targets"]?.array ?? []
            let names = targets.compactMap { $0["documents"]?[0]?.string }
            guard slow.isDisjoint(with: names) else {
                return .json(#"{"code":"57014","message":"canceling statement"}"#, status: 500)
            }
            let answers = targets.map { JSON.object(["id": $0["id"] ?? .null, "reset": true, "documents": []]) }
            let answer: JSON = [
                "token": "e:5", "targets": .array(answers), "settled": true, "readTime": "2026-11-21T01:54:55Z",
            ]
            return .json(answer.text())
        }
        let transport = ScriptedTransport(Array(repeating: read, count: rounds))
        let service = PostgRESTService(
            project: try SupabaseProject("https://demo.supabase.co"), tokens: SupabaseTokens(key: "key", auth: nil),
            transport: transport)
        let pace = SupabaseWatch.Pace(alone: .seconds(3600), hinted: .seconds(3600))
        let watch = SupabaseWatch(
            service, .none, RowStore(service), ChangeHints(), reader: CallOwner(nil), pace: pace,
            clock: ContinuousClock())
        return (watch, transport)
    }

    /// What each target received: `true` for a result, `false` for a refusal.
    private static func outcomes(_ watch: SupabaseWatch, _ count: Int) async throws -> [Int: Bool] {
        var outcomes: [Int: Bool] = [:]
        while outcomes.count < count, let event = try await watch.next() {
            switch event {
            case .current(let ids, _): for id in ids { outcomes[id] = true }
            case .removed(let ids, let cause?):
                for id in ids { outcomes[id] = false }
                #expect(cause.code == .deadlineExceeded)
            default: break
            }
        }
        return outcomes
    }

    @Test func `A query that takes too long is refused, and spoils no other`() async throws {
        // Eight at once, then halves; each read of the slow one's half fails.
        let (watch, _) = try Self.watch(["a/3"], rounds: 40)
        for id in 0..<8 {
            watch.send(.add(TargetRequest(id: id, target: .document(try StoragePath(validating: "a/\(id)")))))
        }
        let outcomes = try await Self.outcomes(watch, 8)
        #expect(outcomes == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, $0 != 3) }))
        watch.close()
    }

    @Test func `Where everything takes too long no query is to blame`() async throws {
        let (watch, _) = try Self.watch(["a/0", "a/1", "a/2", "a/3"], rounds: 40)
        for id in 0..<4 {
            watch.send(.add(TargetRequest(id: id, target: .document(try StoragePath(validating: "a/\(id)")))))
        }
        await #expect(throws: StorageError.self) { _ = try await Self.outcomes(watch, 4) }
        watch.close()
    }
}
