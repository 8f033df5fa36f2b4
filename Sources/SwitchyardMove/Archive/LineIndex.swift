import Foundation
import SwitchyardBytes
import Synchronization

/// Where the lines of a folder are, by what each is about: made at the first question, by reading every line once.
final class LineIndex: Sendable {
    private struct Place {
        /// The number of the file, among its names.
        let file: Int32
        let offset: Int32
    }

    private struct Index {
        let names: [String]
        let places: [PathDigest: Place]
    }

    private let lines: LineFolder
    private let key: @Sendable ([UInt8]) throws -> String
    private let index = Mutex<Index?>(nil)

    /// - Parameter key: What a line is about, such as the path of its document. The last line about something counts.
    init(_ lines: LineFolder, key: @escaping @Sendable ([UInt8]) throws -> String) {
        self.lines = lines
        self.key = key
    }

    /// The lines about `keys`; `nil` for those that have none.
    func lines(about keys: [String]) throws(MoveError) -> [ArchiveLine?] {
        let index = try self.index.withLock { index throws(MoveError) in
            if let index { return index }
            let made = try make()
            index = made
            return made
        }
        var files: [Int32: Data] = [:]
        var found: [ArchiveLine?] = []
        for key in keys {
            guard let place = index.places[PathDigest(key)] else {
                found.append(nil)
                continue
            }
            let name = index.names[Int(place.file)]
            if files[place.file] == nil {
                files[place.file] = try LineFolder.contents(lines.url.appendingPathComponent(name))
            }
            let bytes = LineFolder.line(of: files[place.file] ?? Data(), at: Int(place.offset))
            found.append(ArchiveLine(bytes: bytes, file: name, offset: Int(place.offset)))
        }
        return found
    }

    /// After something was written.
    func forget() { index.withLock { $0 = nil } }

    private func make() throws(MoveError) -> Index {
        let names = try lines.names()
        var places: [PathDigest: Place] = [:]
        for (number, name) in names.enumerated() {
            let bytes = try LineFolder.contents(lines.url.appendingPathComponent(name))
            var offset = 0
            while offset < bytes.count {
                let line = LineFolder.line(of: bytes, at: offset)
                if !line.isEmpty {
                    let about = try ArchiveLine(bytes: line, file: name, offset: offset).read(key)
                    places[PathDigest(about)] = Place(file: Int32(number), offset: Int32(offset))
                }
                offset += line.count + 1
            }
        }
        return Index(names: names, places: places)
    }
}
