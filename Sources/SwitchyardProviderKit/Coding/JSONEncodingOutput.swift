import Foundation
import SwitchyardBytes

/// The text of one value while it is written.
///
/// Values are appended directly, level by level. Containers that a type keeps open in parallel (`nestedContainer`,
/// `superEncoder`) each get a separate output, which is inserted at the end where it was requested.
final class JSONEncodingOutput {
    private struct JSONInsertion {
        let offset: Int
        let output: JSONEncodingOutput
    }

    private let basePath: [any CodingKey]
    private var state = JSONEncodingState()
    private var splices: [JSONInsertion] = []
    /// An error that could not be thrown, or that a type may have caught.
    private var failure: (any Error)?

    init(path: [any CodingKey]) { basePath = path }

    /// Closes open levels and joins all parts.
    func finish() throws -> [UInt8] {
        if let failure { throw failure }
        while !state.levels.isEmpty { state.endLevel() }
        guard !splices.isEmpty else { return state.text }
        var whole: [UInt8] = []
        var start = 0
        for splice in splices {
            whole.append(contentsOf: state.text[start..<splice.offset])
            let part = try splice.output.finish()
            if part.isEmpty { JSONText.append(literal: "{}", to: &whole) } else { whole.append(contentsOf: part) }
            start = splice.offset
        }
        whole.append(contentsOf: state.text[start...])
        return whole
    }

    // MARK: Containers

    func open(_ kind: JSONEncodingState.Level.Kind, at level: Int) { state.open(kind, at: level) }
    func count(at level: Int) -> Int { state.count(at: level) }

    func beginElement(at level: Int) throws { try element(at: level) { _ in } }
    func beginMember(_ name: String, at level: Int) throws { try member(name, at: level) { _ in } }
    func beginSingle(at level: Int) throws { try single(at: level) { _ in } }

    @inline(__always)
    func element(at level: Int, _ value: (inout [UInt8]) -> Void) throws {
        try checked { (state) throws(EncodingMistake) in
            try state.beginElement(at: level)
            value(&state.text)
        }
    }

    @inline(__always)
    func member(_ name: String, at level: Int, _ value: (inout [UInt8]) -> Void) throws {
        try checked { (state) throws(EncodingMistake) in
            try state.beginMember(name, at: level)
            value(&state.text)
        }
    }

    @inline(__always)
    func single(at level: Int, _ value: (inout [UInt8]) -> Void) throws {
        try checked { (state) throws(EncodingMistake) in
            try state.beginSingle(at: level)
            value(&state.text)
        }
    }

    private typealias EncodingMistake = JSONEncodingState.EncodingMistake

    @inline(__always)
    private func checked(_ step: (inout JSONEncodingState) throws(EncodingMistake) -> Void) throws {
        do throws(EncodingMistake) { try step(&state) } catch { throw invalid(error.rawValue) }
    }

    /// An output for a parallel container, after `begin` has made room for it.
    ///
    /// The protocols do not allow throwing here, so errors are thrown at the end.
    func detached(at level: Int, _ begin: () throws -> Void) -> JSONNodeEncoder {
        do { try begin() } catch { failure = failure ?? error }
        let output = JSONEncodingOutput(path: path)
        splices.append(JSONInsertion(offset: state.text.count, output: output))
        return JSONNodeEncoder(output: output, level: output.state.beginLevel())
    }

    // MARK: Values

    func write(_ value: Double) throws {
        guard value.isFinite else { throw invalid("JSON has no number that is not finite.", value) }
        JSONText.append(value, to: &state.text)
    }

    func write(_ value: Float) throws {
        guard value.isFinite else { throw invalid("JSON has no number that is not finite.", value) }
        state.text.append(contentsOf: value.description.utf8)
    }

    func encode<T: Encodable>(_ value: T) throws {
        if try writeSpecial(value) { return }
        let level = state.beginLevel()
        do {
            try value.encode(to: JSONNodeEncoder(output: self, level: level))
        } catch {
            failure = failure ?? error
            throw error
        }
        state.endLevel()
    }

    /// Writes the types that have special formats.
    @inline(__always)
    private func writeSpecial<T>(_ value: T) throws -> Bool {
        if T.self == Date.self, let date = value as? Date {
            try write(date)
        } else if T.self == Data.self, let data = value as? Data {
            state.text.append(UInt8(ascii: "\""))
            Base64.append(data, to: &state.text)
            state.text.append(UInt8(ascii: "\""))
        } else if T.self == JSON.self, let json = value as? JSON {
            json.write(to: &state.text)
        } else if T.self == URL.self, let url = value as? URL {
            JSONText.append(url.absoluteString, to: &state.text)
        } else if T.self == Decimal.self, let decimal = value as? Decimal {
            guard decimal.isFinite else { throw invalid("JSON has no number that is not finite.", value) }
            state.text.append(contentsOf: decimal.description.utf8)
        } else {
            return false
        }
        return true
    }

    private func write(_ date: Date) throws {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        guard abs(microseconds) < 9e18 else { throw invalid("The date is beyond all timestamps.", date) }
        let (whole, rest) = Int64(microseconds).quotientAndRemainder(dividingBy: 1_000_000)
        let moment =
            rest < 0
            ? RFC3339.Moment(seconds: whole - 1, nanoseconds: Int32(rest + 1_000_000) * 1000)
            : RFC3339.Moment(seconds: whole, nanoseconds: Int32(rest) * 1000)
        JSONText.append(moment, to: &state.text)
    }

    // MARK: Errors

    var path: [any CodingKey] { basePath + state.path }

    private func invalid(_ reason: String, _ value: Any = Never.self) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: reason))
    }
}
