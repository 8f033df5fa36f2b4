import Switchyard
import SwitchyardBytes
import Testing

@testable import SwitchyardFirestoreFormat

/// What every client library must send for a call, from the published files: one call and one expected request in each.
@Suite struct ConformanceTests {
    @Test(.enabled(if: SpecData.folder != nil, Comment(rawValue: SpecData.absence)))
    func `Calls send what the published files expect`() throws {
        var tally = ConformanceTally()
        for (name, json) in try SpecData.files(in: "firestore-conformance") {
            let cases = try #require(json["tests"]?.array, "\(name) has no tests")
            for test in cases { tally.note(name, ConformanceCase.outcome(of: test, in: name)) }
        }
        tally.report()
        #expect(tally.failed == 0)
        #expect(tally.passed > 0)
    }
}

enum ConformanceOutcome {
    case passed
    case failed(String)
    case skipped(String)
}

struct ConformanceTally {
    private(set) var passed = 0
    private(set) var failed = 0
    private(set) var skipped = 0

    mutating func note(_ name: String, _ outcome: ConformanceOutcome) {
        switch outcome {
        case .passed:
            passed += 1
            print("conformance \(name): passed")
        case .failed(let reason):
            failed += 1
            print("conformance \(name): FAILED: \(reason)")
            Issue.record("\(name): \(reason)")
        case .skipped(let reason):
            skipped += 1
            print("conformance \(name): skipped: \(reason)")
        }
    }

    func report() {
        print("conformance: \(passed) passed, \(failed) failed, \(skipped) skipped of \(passed + failed + skipped)")
    }
}

/// Carries out one case: makes the call and compares the request, or sees to it that the call is refused.
enum ConformanceCase {
    static let database = FirestoreDatabase(project: "projectID")

    static func outcome(of test: JSON, in file: String) -> ConformanceOutcome {
        if let reason = ConformanceSkips.reason(for: file) { return .skipped(reason) }
        guard
            let (kind, body) = test.object?.first(where: { !["description", "comment"].contains($0.key) })
                .map({ ($0.key, $0.value) })
        else { return .failed("a test without a call") }
        do {
            switch kind {
            case "get":
                return compare(
                    ["name": .string(database.resourceName(of: try path(body)))], body["request"] ?? .null)
            case "create", "set", "update", "updatePaths", "delete":
                return write(body) { try ConformanceWrites.write(kind, body, at: try path(body), variant: $0) }
            case "query": return try ConformanceQueries.outcome(of: body)
            case "listen": return try ConformanceListens.outcome(of: body)
            default: return .failed("an unknown kind of call, “\(kind)”")
            }
        } catch {
            return .failed("the case cannot be read: \(error)")
        }
    }

    static func path(_ body: JSON) throws -> StoragePath {
        guard let name = body["docRefPath"]?.string else { throw FirestoreFormatError("a case without a document") }
        return try database.path(ofName: name)
    }

    /// Each call is made with every way in which the API lets its data be given.
    private static func write(
        _ body: JSON, _ make: (ConformanceData.Variant) throws -> DocumentWrite
    ) -> ConformanceOutcome {
        for variant in ConformanceData.Variant.allCases {
            let outcome: ConformanceOutcome
            do {
                let write = try make(variant)
                if body["isError"]?.bool == true { return .failed("accepted, \(variant)") }
                outcome = compare(
                    ConformanceNormal.request([
                        "database": .string(database.name), "writes": [write.firestore(in: database)],
                    ]), ConformanceNormal.request(body["request"] ?? .null))
            } catch is ConformanceData.Inexpressible {
                // There is no way to write it down: the types refuse it before anything runs.
                outcome = body["isError"]?.bool == true ? .passed : .failed("cannot be expressed")
            } catch let error as StorageError {
                outcome = body["isError"]?.bool == true ? .passed : .failed("refused: \(error.message)")
            } catch {
                return .failed("the case cannot be read: \(error)")
            }
            guard case .passed = outcome else { return outcome }
        }
        return .passed
    }

    static func compare(_ actual: JSON, _ expected: JSON) -> ConformanceOutcome {
        let options = JSONWritingOptions(sortsKeys: true)
        let (actual, expected) = (actual.text(options), expected.text(options))
        return actual == expected ? .passed : .failed("sent \(actual), expected \(expected)")
    }
}

/// Files that do not apply, by name. Everything else is run, known or not.
enum ConformanceSkips {
    static func reason(for file: String) -> String? { reasons[file] }

    private static let clientCache = "a client with a cache looks the document up instead of dropping it"
    private static let reasons: [String: String] = [
        "query-select-empty": "an empty projection is refused; names alone are asked for by naming the document's ID",
        "query-invalid-operator": "operators are an enumeration: an unknown one cannot be written down",
        "listen-doc-remove": clientCache,
        "listen-removed-target-ids": clientCache,
        "listen-reset": clientCache,
        "listen-target-add-nop":
            "an answer for a target that is already there does not reach a listener of this engine",
        "listen-target-add-wrong-id": "messages for targets that are not listened to are ignored, not errors",
        "listen-target-remove": "the end of a target without a cause answers an unlisten, and is no error",
    ]
}
