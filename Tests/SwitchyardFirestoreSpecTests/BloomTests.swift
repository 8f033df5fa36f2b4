import Switchyard
import SwitchyardBytes
import SwitchyardSync
import SwitchyardTestRuns
import SwitchyardTestSupport
import Testing

@Suite struct BloomTests {
    private static let prefix = "projects/project-1/databases/database-1/documents/"
    private static let golden = SideRun { try await onOwnThread { try GoldenFilters.check(prefix) } }

    @Test(.enabled(if: SpecData.folder != nil, Comment(rawValue: SpecData.absence)), .beside(golden))
    func `Every look-up of the golden filters has the published answer`() async throws {
        let (passed, failures) = try await Self.golden.value
        print("bloom: \(passed) passed, \(failures.count) failed of \(passed + failures.count)")
        for failure in failures { Issue.record(Comment(rawValue: failure)) }
        #expect(passed > 0)
    }

    @Test func `A small filter distinguishes its member from other names`() throws {
        let filter = try #require(BloomFilter(bitmap: [0x9B, 0x01], padding: 5, hashCount: 8, prefix: Self.prefix))
        #expect(!filter.isEmpty)
        #expect(filter.mightContain("coll/doc0"))
        #expect(!filter.mightContain("coll/doc1"))
    }

    @Test func `A filter without bits contains nothing`() throws {
        let filter = try #require(BloomFilter(bitmap: [], padding: 0, hashCount: 0, prefix: ""))
        #expect(filter.isEmpty)
        #expect(!filter.mightContain("a/b"))
        #expect(BloomFilter(bitmap: [], padding: 0, hashCount: 3, prefix: "")?.mightContain("a/b") == false)
    }

    @Test(arguments: [([UInt8](), 1, 0), ([0xFF], -1, 1), ([0xFF], 8, 1), ([0xFF], 0, 0), ([0xFF], 0, -1), ([], 0, -1)])
    func `Parts that do not make sense together are no filter`(bitmap: [UInt8], padding: Int, hashCount: Int) {
        #expect(BloomFilter(bitmap: bitmap, padding: padding, hashCount: hashCount, prefix: "") == nil)
    }
}

/// The published filters, each with the answers that it must give.
private enum GoldenFilters {
    static func check(_ prefix: String) throws -> (passed: Int, failures: [String]) {
        let files = try SpecData.files(in: "firestore-bloom")
        var answers: [String: String] = [:]
        for file in files where file.name.hasSuffix("_membership_test_result") {
            answers[String(file.name.dropLast("_membership_test_result".count))] =
                file.json["membershipTestResults"]?.string
        }
        var passed = 0
        var failures: [String] = []
        for file in files where file.name.hasSuffix("_bloom_filter_proto") {
            let name = String(file.name.dropLast("_bloom_filter_proto".count))
            let bits = file.json["bits"]
            guard let expected = answers.removeValue(forKey: name),
                let bitmap = Base64.decode(bits?["bitmap"]?.string ?? ""),
                let filter = BloomFilter(
                    bitmap: bitmap, padding: bits?["padding"]?.int ?? 0, hashCount: file.json["hashCount"]?.int ?? 0,
                    prefix: prefix)
            else {
                failures.append("bloom \(name): no filter, or no answers")
                continue
            }
            var wrong = 0
            let some = RunSize.part(of: Array(expected.utf8.enumerated()), every: 5)
            for (index, answer) in some {
                let mightContain = filter.mightContain(StoragePath(unchecked: "coll/doc\(index)"))
                if mightContain != (answer == UInt8(ascii: "1")) { wrong += 1 }
            }
            print("bloom \(name): \(wrong == 0 ? "passed" : "FAILED"), \(some.count) look-ups, \(wrong) wrong")
            if wrong == 0 { passed += 1 } else { failures.append("bloom \(name): \(wrong) wrong answers") }
        }
        failures += answers.keys.sorted().map { "bloom \($0): answers without a filter" }
        return (passed, failures)
    }
}
