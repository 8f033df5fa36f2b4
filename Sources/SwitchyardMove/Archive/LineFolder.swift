import Foundation
import Switchyard
import SwitchyardBytes

/// A folder of files with one JSON value per line, named so that their order is the order of their names.
struct LineFolder: Sendable {
    let url: URL

    /// The names of its files, in order.
    func names() throws(MoveError) -> [String] {
        guard exists else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { $0.hasSuffix(".jsonl") }.sorted()
        } catch {
            throw .archive(url.path, "it cannot be listed.")
        }
    }

    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Replaces a whole file: there is the old one or the new one, never a part.
    func write(_ lines: [[UInt8]], as name: String) throws(MoveError) {
        try Self.write(
            Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")], to: url, name + ".jsonl")
    }

    static func write(_ bytes: [UInt8], to folder: URL, _ name: String) throws(MoveError) {
        let path = folder.appendingPathComponent(name).path
        do throws(SystemFailure) {
            try POSIXFile.makeFolder(folder.path)
        } catch {
            throw .archive(folder.path, "it cannot be created: \(error).")
        }
        do throws(POSIXFile.Failure) {
            try POSIXFile.replace(path, with: bytes)
        } catch {
            throw .archive(path, "\(error). Make room, or choose another folder.")
        }
    }

    /// The next lines of the files from `start` up to `end`.
    ///
    /// - Parameter place: What this returned for the lines before; `nil` for the first.
    /// - Returns: No lines at the end.
    func lines(
        from start: String? = nil, to end: String? = nil, after place: String?, limit: Int
    ) throws(MoveError) -> (lines: [ArchiveLine], place: String) {
        var (name, offset) = try Self.parts(of: place)
        var found: [ArchiveLine] = []
        for file in try names() {
            if let start, file < start { continue }
            if let end, file >= end { break }
            if let name, file < name { continue }
            if file != name { (name, offset) = (file, 0) }
            let bytes = try Self.contents(url.appendingPathComponent(file))
            while offset < bytes.count, found.count < limit {
                let line = Self.line(of: bytes, at: offset)
                if !line.isEmpty { found.append(ArchiveLine(bytes: line, file: file, offset: offset)) }
                offset += line.count + 1
            }
            if found.count == limit { break }
        }
        return (found, "\(name ?? ""):\(offset)")
    }

    /// The bytes from `offset` to the end of the line.
    static func line(of bytes: Data, at offset: Int) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            let rest = bytes[offset...]
            return Array(rest[..<(rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex)])
        }
    }

    private static func parts(of place: String?) throws(MoveError) -> (name: String?, offset: Int) {
        guard let place else { return (nil, 0) }
        guard let colon = place.lastIndex(of: ":"), let offset = Int(place[place.index(after: colon)...]) else {
            throw MoveError(.invalidArgument, "“\(place)” is not a place in an archive.")
        }
        return (String(place[..<colon]), offset)
    }

    func count() throws(MoveError) -> Int {
        var count = 0
        for name in try names() {
            let bytes = try Self.contents(url.appendingPathComponent(name))
            count += bytes.split(separator: UInt8(ascii: "\n")).count
        }
        return count
    }

    /// The file, mapped: no more of it is in memory than is used.
    static func contents(_ file: URL) throws(MoveError) -> Data {
        do {
            return try Data(contentsOf: file, options: .alwaysMapped)
        } catch {
            throw .archive(file.path, "it cannot be read.")
        }
    }
}

/// One line, and where it is.
struct ArchiveLine {
    let bytes: [UInt8]
    let file: String
    let offset: Int

    /// Runs a decoding, and names the line in its error.
    func read<Value>(_ decode: ([UInt8]) throws -> Value) throws(MoveError) -> Value {
        do {
            return try decode(bytes)
        } catch {
            let reason = (error as? DecodingError)?.reason ?? "\(error)"
            throw .archive(file, "the line at byte \(offset) cannot be read: \(reason)")
        }
    }
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
        @unknown default: "it is not as documented."
        }
    }
}
