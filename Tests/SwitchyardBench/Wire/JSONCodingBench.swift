import Foundation
import SwitchyardBytes
import SwitchyardProviderKit

/// Table rows to and from a type, against Foundation's coders, including dates.
struct JSONCodingBench: BenchSection {
    let name = "json coding"

    struct Row: Codable, Sendable, Equatable {
        var id: String
        var createdAt: Date
        var updatedAt: Date
        var name: String
        var email: String
        var age: Int
        var score: Double
        var isActive: Bool
        var team: String?
        var tags: [String]
        var note: String
    }

    func run(_ bench: Bench) async throws {
        let repeats = bench.settings.count(20, quick: 1)
        let rows = Self.rows(1000)
        let text = try JSONBytesEncoder().encode(rows)
        let data = Data(text)
        let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
        decoder.dateDecodingStrategy = .iso8601
        encoder.dateEncodingStrategy = .iso8601
        guard try decoder.decode([Row].self, from: data) == rows,
            try JSONBytesDecoder().decode([Row].self, from: encoder.encode(rows)) == rows
        else { throw BenchFailure("the coders do not agree") }
        await bench.report("bytes a row", Double(text.count) / 1000, "B")

        let results = try await BenchComparison(rounds: bench.settings.count(9, quick: 1)).run([
            BenchComparison.Contender("decode") {
                try Self.each(repeats) { try JSONBytesDecoder().decode([Row].self, from: text) }
            },
            BenchComparison.Contender("JSONDecoder") {
                try Self.each(repeats) { try decoder.decode([Row].self, from: data) }
            },
            BenchComparison.Contender("encode") { try Self.each(repeats) { try JSONBytesEncoder().encode(rows) } },
            BenchComparison.Contender("JSONEncoder") { try Self.each(repeats) { try encoder.encode(rows) } },
        ])
        let milliseconds = results.map { $0.seconds / Double(repeats) * 1000 }
        await bench.report("decode 1000 rows", milliseconds[0], "ms")
        await bench.report("JSONDecoder", milliseconds[1], "ms")
        await bench.report("JSONDecoder ÷ decode", milliseconds[1] / milliseconds[0], "×", .atLeast(3))
        await bench.report("encode 1000 rows", milliseconds[2], "ms")
        await bench.report("JSONEncoder", milliseconds[3], "ms")
        await bench.report("JSONEncoder ÷ encode", milliseconds[3] / milliseconds[2], "×", .atLeast(3))
    }

    private static func each<Result>(_ count: Int, _ work: () throws -> Result) rethrows -> [Result] {
        try (0..<count).map { _ in try work() }
    }

    static func rows(_ count: Int) -> [Row] {
        var random = JSONCorpus.Sequence(seed: 2)
        return (0..<count).map { index in
            Row(
                id: "6f9619ff-8b86-4d01-b42d-00cf4f\(100_000 + index)",
                createdAt: Date(timeIntervalSince1970: Double(1_700_000_000 + random.next(50_000_000))),
                updatedAt: Date(timeIntervalSince1970: Double(1_750_000_000 + random.next(10_000_000))),
                name: "Person Number \(index)", email: "person\(index)@example.org", age: 18 + random.next(70),
                score: Double(random.next(100_000)) / 100, isActive: random.next(2) == 0,
                team: random.next(3) == 0 ? nil : "team-\(random.next(40))",
                tags: ["alpha", "beta\(random.next(100))"],
                note: "A few words about this row, plain, \(random.next(1_000_000)) of them.")
        }
    }
}
