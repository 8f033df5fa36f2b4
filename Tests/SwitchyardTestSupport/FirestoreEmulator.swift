import Foundation
import SwitchyardServerKit
import Synchronization

/// The real Firestore emulator, started once for a test run. Every test uses a project of its own on it.
package final class FirestoreEmulator: Sendable {
    package let host = "127.0.0.1"
    package let port: Int
    private let server: ServerProcess

    /// Where the program is: what `SWITCHYARD_FIRESTORE_EMULATOR` names, otherwise where its Debian package puts it.
    package static let jar: String? = {
        let named = ProcessInfo.processInfo.environment["SWITCHYARD_FIRESTORE_EMULATOR"]
        let usual = "/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"
        let jar = named ?? usual
        return FileManager.default.fileExists(atPath: jar) ? jar : nil
    }()

    /// Whether tests that need it can run; otherwise they are to be reported as skipped.
    package static var isInstalled: Bool { jar != nil && OutsideTool.java.isInstalled }

    package struct NotInstalled: Error, CustomStringConvertible {
        package let description = "The Firestore emulator is not installed; see the README."
    }

    private static let shared = Mutex<FirestoreEmulator?>(nil)

    /// The running one, ready to answer.
    package static func running() async throws -> FirestoreEmulator {
        let emulator = try shared.withLock { shared in
            if let shared, shared.server.isRunning { return shared }
            let new = try FirestoreEmulator()
            shared = new
            return new
        }
        try await emulator.waitUntilReady()
        return emulator
    }

    /// One of a test's own, to be cut off or killed.
    package init() throws {
        guard let jar = FirestoreEmulator.jar else { throw NotInstalled() }
        port = try freePort()
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("firestore-emulator-\(port).log").path
        server = try ServerProcess(
            [
                // Runs are short: what the second compiler would gain, it would cost.
                "java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", jar,
                "com.google.cloud.datastore.emulator.firestore.CloudFirestore", "start", "--host=127.0.0.1",
                "--port=\(port)",
            ], logFile: log)
    }

    package func waitUntilReady() async throws {
        do {
            try await eventually("the Firestore emulator answers", within: .seconds(60)) {
                (try? LoopbackProbe.answers(port: port)) ?? false
            }
        } catch {
            throw DeadlineExceeded(description: "\(error)\n\(server.logTail)")
        }
    }

    package func kill() { server.kill() }

    /// A project that no other test uses.
    package func newProject() -> String { "test-\(UInt64.random(in: 0..<UInt64.max))" }
}

/// Asks a server on this machine whether it answers at all.
enum LoopbackProbe {
    static func answers(port: Int) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return false }
        let request = Array("GET / HTTP/1.0\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return false }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 && String(decoding: buffer[..<count], as: UTF8.self).contains(" 200 ")
    }
}
