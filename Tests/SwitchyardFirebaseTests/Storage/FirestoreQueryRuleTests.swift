import Switchyard
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// The rules for queries are Firestore's: what they let through, the emulator runs.
@Suite(.enabled(if: FirestoreEmulator.isInstalled, "the Firestore emulator is not installed"))
struct FirestoreQueryRuleTests {
    /// A query of up to eight random steps, as somebody who does not know the rules builds it.
    private static func query(_ random: inout SeededGenerator) -> Query {
        var query = Query(in: Bool.random(using: &random) ? "things" : "lists/a/things")
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let field: FieldPath =
                Int.random(in: 0..<6, using: &random) == 0
                ? .documentID : FieldPath(unchecked: ["f\(Int.random(in: 0..<5, using: &random))"])
            switch Int.random(in: 0..<10, using: &random) {
            case 0...1: query = query.ordered(by: field, Bool.random(using: &random) ? .ascending : .descending)
            case 2:
                query = query.where(.any([condition(field, &random), condition(.init(unchecked: ["g"]), &random)]))
            case 3 where !query.orders.isEmpty: query = query.limited(toLast: 3)
            case 3: query = query.limited(to: 3)
            default: query = query.where(condition(field, &random))
            }
        }
        return query
    }

    private static func condition(_ field: FieldPath, _ random: inout SeededGenerator) -> Filter {
        func value() -> DocumentValue {
            field.isDocumentID
                ? .string("d\(Int.random(in: 0..<3, using: &random))") : .integer(.random(in: 0..<3, using: &random))
        }
        let operation = Filter.Operator.allCases.randomElement(using: &random) ?? .equal
        switch operation {
        case .in, .notIn, .arrayContainsAny:
            return .field(field, operation, .array((0..<Int.random(in: 1...3, using: &random)).map { _ in value() }))
        case _ where Int.random(in: 0..<6, using: &random) == 0 && !field.isDocumentID:
            return .test(field, Filter.Test.allCases.randomElement(using: &random) ?? .isNull)
        default: return .field(field, operation, value())
        }
    }

    @Test func `The emulator runs every query without a mistake`() async throws {
        let site = try await FirestoreSite()
        let client = try await site.client()
        var (accepted, refused) = (0, 0)
        let rounds = RandomRun.rounds(600)
        for seed in 0..<UInt64(rounds) {
            var random = SeededGenerator(seed: seed)
            let query = Self.query(&random)
            guard query.mistake == nil else {
                refused += 1
                continue
            }
            accepted += 1
            do {
                _ = try await client.documents(query, from: .server)
            } catch {
                // What it lacks, and no rule of Firestore's: an index by name, backwards.
                if error.message.contains("does not support descending key scans") { continue }
                Issue.record("seed \(seed): \(query): \(error.message)")
            }
        }
        #expect(accepted > rounds / 6 && refused > rounds / 6, "\(accepted) accepted, \(refused) refused")
        await client.shutDown()
    }
}
