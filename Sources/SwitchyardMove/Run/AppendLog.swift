import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import Synchronization

/// A file to which lines of JSON are added. A line that was cut off by the end of the process is dropped when the file is
/// opened again.
final class AppendLog<Entry: Codable & Sendable>: Sendable {
    private let path: String
    private let descriptor: Int32
    private let lock = Mutex(())

    /// - Parameter read: Called with each entry that is there.
    init(_ file: URL, _ read: (Entry) throws -> Void) throws(MoveError) {
        path = file.path
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, "\(SystemFailure(errno))") }
        do {
            let bytes = try LineFolder.contents(file)
            var offset = 0
            while offset < bytes.count {
                let line = LineFolder.line(of: bytes, at: offset)
                guard offset + line.count < bytes.count else {
                    guard ftruncate(descriptor, off_t(offset)) == 0 else { throw SystemFailure(errno) }
                    break
                }
                try read(JSONBytesDecoder().decode(from: line))
                offset += line.count + 1
            }
        } catch {
            close(descriptor)
            throw (error as? MoveError) ?? Self.failure(path, "\(error)")
        }
    }

    deinit { close(descriptor) }

    func append(_ entries: [Entry]) throws(MoveError) {
        guard !entries.isEmpty else { return }
        var bytes: [UInt8] = []
        do {
            for entry in entries { bytes += try JSONBytesEncoder().encode(entry) + [UInt8(ascii: "\n")] }
        } catch {
            throw Self.failure(path, "\(error)")
        }
        // In one write, so that lines of several tasks do not mix.
        if let code = lock.withLock({ _ in POSIXFile.write(bytes, to: descriptor) }) {
            throw Self.failure(path, "\(SystemFailure(code)). Make room, and run the move again")
        }
    }

    private static func failure(_ path: String, _ reason: String) -> MoveError {
        MoveError(.localStore, "The journal “\(path)” cannot be used: \(reason).")
    }
}
