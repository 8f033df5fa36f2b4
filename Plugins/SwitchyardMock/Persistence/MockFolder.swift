import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The folder of a backend: one verified file for each service, and one for each stored file.
struct MockFolder: Sendable {
    let url: URL
    /// The backend's lock on its folder.
    let lock: FileLock

    /// - Throws: `.localStore` if the folder cannot be created or written; `.locked` while another backend uses it.
    init(_ url: URL) throws(InfrastructureError) {
        self.url = url
        do throws(SystemFailure) { try POSIXFile.makeFolder(url.path, mode: 0o777) } catch {
            throw .unwritableFolder(url, "\(error)", error)
        }
        do throws(FileLock.Refusal) {
            lock = try FileLock(url.appendingPathComponent("lock", isDirectory: false).path)
        } catch .held {
            throw InfrastructureError(
                .locked,
                "The mock's folder “\(url.path)” is in use by another process, or by another mock in this one; end that first or choose another folder."
            )
        } catch {
            throw .unwritableFolder(url, error.reason, error)
        }
        do throws(SystemFailure) {
            try POSIXFile.makeFolder(url.appendingPathComponent("contents", isDirectory: true).path, mode: 0o777)
        } catch {
            throw .unwritableFolder(url, "\(error)", error)
        }
        do {
            // Check now, before anything depends on it.
            let probe = url.appendingPathComponent("probe", isDirectory: false)
            try Data().write(to: probe)
            try FileManager.default.removeItem(at: probe)
        } catch {
            throw .unwritableFolder(url, "no file can be written there", error)
        }
    }

    var sessions: MockSessionStore { MockSessionStore(FileSessionStore(folder: url)) }
    var uploads: MockUploadStore {
        MockUploadStore(UploadRecords(folder: url.appendingPathComponent("uploads", isDirectory: true)))
    }

    func file(_ name: String) -> MockFile { MockFile(name + ".json", in: url) }

    // MARK: Contents of stored files

    private func contents(_ name: String) -> URL {
        url.appendingPathComponent("contents", isDirectory: true).appendingPathComponent(name, isDirectory: false)
    }

    func readContents(_ name: String) -> Data? { try? Data(contentsOf: contents(name)) }

    func writeContents(_ data: Data, _ name: String) throws(MockFile.Failure) {
        guard !FileManager.default.fileExists(atPath: contents(name).path) else { return }
        do {
            try data.write(to: contents(name), options: .atomic)
        } catch {
            throw .unwritable(name)
        }
    }

    /// Removes the contents that no file uses anymore.
    func keepContents(_ names: Set<String>) {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: contents("").path)) ?? []
        for name in all where !names.contains(name) { try? FileManager.default.removeItem(at: contents(name)) }
    }
}

extension InfrastructureError {
    static func unwritableFolder(_ folder: URL, _ reason: String, _ cause: any Error) -> InfrastructureError {
        InfrastructureError(
            .localStore,
            "The mock's folder “\(folder.path)” cannot be written: \(reason). Check its owner and permissions, or choose another.",
            underlying: cause)
    }
}

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
        var target = url.appendingPathExtension("damaged")
        while FileManager.default.fileExists(atPath: target.path) {
            number += 1
            target = url.appendingPathExtension("damaged-\(number)")
        }
        do {
            try FileManager.default.moveItem(at: url, to: target)
        } catch {
            return .unwritable(name)
        }
        return .damaged(name, setAside: target.lastPathComponent)
    }
}
