import Foundation
import Switchyard

/// Encodes and decodes a struct as a document, against Foundation's coders with the same struct as JSON, one document at a
/// time.
struct CodableBench: BenchSection {
    let name = "codable"

    func run(_ bench: Bench) async throws {
        let people = (0..<bench.settings.count(20_000, quick: 1000)).map(CodableSample.init)
        let documents = try people.map { try DocumentCoder.standard.data(from: $0) }
        let texts = try people.map { try JSONEncoder().encode($0) }
        guard try documents[0].decoded(as: CodableSample.self) == people[0] else {
            throw BenchFailure("the sample does not come back")
        }

        let coder = DocumentCoder.standard
        let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 3)).run([
            BenchComparison.Contender("decode") {
                try documents.map { try coder.decode(CodableSample.self, from: $0) }
            },
            BenchComparison.Contender("JSONDecoder") {
                let decoder = JSONDecoder()
                return try texts.map { try decoder.decode(CodableSample.self, from: $0) }
            },
            BenchComparison.Contender("encode") { try people.map { try coder.data(from: $0) } },
            BenchComparison.Contender("JSONEncoder") {
                let encoder = JSONEncoder()
                return try people.map { try encoder.encode($0) }
            },
        ])
        let microseconds = results.map { $0.seconds * 1e6 / Double(people.count) }
        await bench.report("document to struct", microseconds[0], "µs")
        await bench.report("JSONDecoder", microseconds[1], "µs")
        await bench.report("JSONDecoder ÷ document to struct", microseconds[1] / microseconds[0], "×", .atLeast(1))
        await bench.report("struct to document", microseconds[2], "µs")
        await bench.report("JSONEncoder", microseconds[3], "µs")
        await bench.report("JSONEncoder ÷ struct to document", microseconds[3] / microseconds[2], "×", .atLeast(1))
    }
}
