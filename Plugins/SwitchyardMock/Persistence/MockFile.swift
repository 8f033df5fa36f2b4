import Foundation
import Switchyard
import SwitchyardBytes

/// A file in a mock's folder, written atomically and verified when read.
///
/// The first line contains the format and a checksum, the rest is JSON. A file with a wrong checksum is renamed and reported,
/// never overwritten.
struct MockFile: Sendable {
    enum Failure: Error, CustomStringConvertible {
        case unwritable(String)
        case damaged(String, setAside: String)
        case newer(String)

        var description: String {
            switch self {
            case .unwritable(let name):
                "The mock's file “\(name)” cannot be read or written; check the folder's permissions."
            case .damaged(let name, let setAside):
                "The mock's file “\(name)” is damaged and was set aside as “\(setAside)”. Restore it or continue without it."
            case .newer(let name): "The mock's file “\(name)” was written by a newer version."
            }
        }
    }

    let url: URL
    private static let mark = "switchyard-mock"
    private static let version = 1

    init(_ name: String, in folder: URL) { url = folder.appendingPathComponent(name, isDirectory: false) }

    private var name: String { url.lastPathComponent }

    /// The contents; `nil` if there is no such file yet.
    func read() throws(Failure) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        guard let data = try? Data(contentsOf: url) else { throw .unwritable(name) }
        let bytes = [UInt8](data)
        guard let lineEnd = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw setAside() }
        let words = String(decoding: bytes[..<lineEnd], as: UTF8.self).split(separator: " ")
        guard words.count == 3, words[0] == MockFile.mark, let version = Int(words[1]) else { throw setAside() }
        guard version == MockFile.version else { throw .newer(name) }
        let body = Array(bytes[(lineEnd + 1)...])
        guard UInt32(words[2], radix: 16) == CRC32C.checksum(of: body) else { throw setAside() }
        return body
    }

    func write(_ body: [UInt8]) throws(Failure) {
        let checksum = String(CRC32C.checksum(of: body), radix: 16)
        let head = Array("\(MockFile.mark) \(MockFile.version) \(checksum)\n".utf8)
        do {
            try Data(head + body).write(to: url, options: .atomic)
        } catch {
            throw .unwritable(name)
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws(Failure) -> Value? {
        guard let body = try read() else { return nil }
        do {
            return try JSONDecoder().decode(Value?.self, from: Data(body))
        } catch {
            throw setAside()
        }
    }

    func encode(_ value: some Encodable) throws(Failure) {
        guard let data = try? JSONEncoder().encode(value) else { throw .unwritable(name) }
        try write([UInt8](data))
    }

    /// Renames a damaged file, without overwriting another one.
    func setAside() -> Failure {
        var number = 1
        var place = url.appendingPathExtension("damaged")
        while FileManager.default.fileExists(atPath: place.path) {
            number += 1
            place = url.appendingPathExtension("damaged-\(number)")
        }
        do {
            try FileManager.default.moveItem(at: url, to: place)
        } catch {
            return .unwritable(name)
        }
        return .damaged(name, setAside: place.lastPathComponent)
    }
}
