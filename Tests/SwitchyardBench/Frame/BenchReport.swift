import Foundation

/// All results of a run.
struct BenchReport: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let area: String
        let section: String
        let figure: Figure
        let verdict: Figure.Verdict?
    }

    struct Failed: Codable, Sendable {
        let area: String
        let section: String
        let reason: String
    }

    let machine: BenchMachine
    /// The requested sections, each as `area / section`.
    let measured: [String]
    var isQuick: Bool
    var entries: [Entry] = []
    var failures: [Failed] = []

    var missed: [Entry] { entries.filter { $0.verdict == .missed } }

    var status: Int32 { failures.isEmpty ? (missed.isEmpty ? 0 : 1) : 2 }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let data = (try? encoder.encode(self)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    /// What `--json` printed.
    init(contentsOf file: String) throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            self = try decoder.decode(BenchReport.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw BenchFailure("\(file) is not what switchyard-bench --json printed: \(error)")
        }
    }

    init(machine: BenchMachine, measured: [String], isQuick: Bool) {
        (self.machine, self.measured, self.isQuick) = (machine, measured, isQuick)
    }

    /// The sections to measure, and the machine.
    var head: String {
        let sections = "\(measured.count) section\(measured.count == 1 ? "" : "s"): \(measured.joined(separator: ", "))"
        return (["switchyard-bench", sections] + machine.lines).joined(separator: "\n")
    }

    var summary: String {
        let marked = entries.filter { $0.verdict != nil }.count
        let failed = failures.isEmpty ? "" : ", \(failures.count) sections failed"
        let unmeasured = entries.filter { $0.verdict == .unmeasured }.count
        let quick = isQuick ? ", \(unmeasured) not met in a quick run, which does not measure" : ""
        return "\n\(entries.count) figures, \(marked) marks, \(missed.count) missed\(failed)\(quick)"
    }
}

/// The lines of the text table, printed as the figures arrive.
enum BenchTable {
    static func title(_ area: String, _ section: String) -> String {
        "\n\(area) / \(section)\n" + String(repeating: "-", count: 116)
    }

    static func line(_ figure: Figure, _ verdict: Figure.Verdict?) -> String {
        let value = pad("\(number(figure.value)) \(figure.unit)", 22, isRight: true)
        let mark =
            switch figure.mark {
            case nil: ""
            case .atLeast(let bound): "≥ \(number(bound))"
            case .atMost(let bound): "≤ \(number(bound))"
            }
        let verdict =
            switch verdict {
            case nil: ""
            case .met: "met"
            case .missed: "MISSED"
            case .unmeasured: "unmeasured"
            }
        return "\(pad(figure.name, 70))\(value)   \(pad(mark, 12))\(verdict)"
    }

    /// Three significant digits, without a fraction from a hundred on.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        let magnitude = abs(value)
        if magnitude >= 100 || magnitude == 0 { return grouped(Int(value.rounded())) }
        let places = magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3
        let scale = [1, 10, 100, 1000][places]
        let scaled = Int((magnitude * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(value < 0 ? "-" : "")\(scaled / scale).\(zeros)\(fraction)"
    }

    private static func grouped(_ value: Int) -> String {
        var groups: [Substring] = []
        var digits = Substring(String(value.magnitude))
        while !digits.isEmpty {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        return (value < 0 ? "-" : "") + groups.joined(separator: " ")
    }

    private static func pad(_ text: String, _ width: Int, isRight: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return isRight ? space + text : text + space
    }
}
