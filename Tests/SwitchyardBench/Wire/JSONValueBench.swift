import Foundation
import SwitchyardBytes

/// The `JSON` value against Foundation's coders, to and from the same recursive type.
struct JSONValueBench: BenchSection {
    let name = "json value"

    func run(_ bench: Bench) async throws {
        let text = JSONCorpus.documents(bench.settings.count(20_675, quick: 1000))
        let data = Data(text)
        let value = try JSON(parsing: text)
        let megabytes = Double(text.count) / 1e6
        await bench.report("size of the text", megabytes, "MB")

        let results = try await BenchComparison(rounds: bench.settings.count(7, quick: 1)).run([
            BenchComparison.Contender("parse") { try JSON(parsing: text) },
            BenchComparison.Contender("JSONDecoder") { try JSONDecoder().decode(JSON.self, from: data) },
            BenchComparison.Contender("write") { value.bytes() },
            BenchComparison.Contender("JSONEncoder") { try JSONEncoder().encode(value) },
        ])
        let rates = results.map { megabytes / $0.seconds }
        await bench.report("parse", rates[0], "MB/s", .atLeast(150))
        await bench.report("JSONDecoder", rates[1], "MB/s")
        await bench.report("parse ÷ JSONDecoder", rates[0] / rates[1], "×", .atLeast(15))
        await bench.report("write", rates[2], "MB/s")
        await bench.report("JSONEncoder", rates[3], "MB/s")
        await bench.report("write ÷ JSONEncoder", rates[2] / rates[3], "×", .atLeast(8))

        let peak = try await bench.inChild("peak")
        await bench.report("peak memory of a parse ÷ size of the text", peak, "×", .atMost(8))
    }

    /// The memory growth of a process that parses the text, as a multiple of the text's size, including the text itself.
    func runChild(_ task: String, _ settings: BenchSettings) async throws -> Double {
        let before = Usage.peakResidentBytes
        let text = JSONCorpus.documents(settings.count(20_675, quick: 5000))
        let value = try JSON(parsing: text)
        let peak = Usage.peakResidentBytes - before
        guard value.array?.isEmpty == false else { throw BenchFailure("nothing parsed") }
        return Double(peak) / Double(text.count)
    }
}
