import Foundation
import Switchyard
import SwitchyardLocalFirebase
import SwitchyardServerKit
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// A local Firebase in a process of its own, on a folder, to be killed and started again at the same address.
final class FirebaseProcess {
    static let project = "killed"

    let port: UInt16
    private let folder: URL
    private var running: Task<Void, Never>?

    init() throws {
        port = UInt16(try freePort())
        folder = ScratchSpace.url.appendingPathComponent("firebase-process-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var processFile: URL { folder.appendingPathComponent("process") }

    /// Returns when it listens.
    func start() async throws {
        running = Task { [path = folder.path, port] in
            _ = await onSpareThreads {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, port = port as UInt16] in
                    await FirebaseProcess.serve(path, port)
                }
            }
        }
        try await eventually("the server listens", within: .seconds(30)) {
            FileManager.default.fileExists(atPath: processFile.path)
        }
    }

    /// Ends it in the middle of whatever it does; what it had answered must be in the folder.
    func kill() async throws {
        let text = try String(contentsOf: processFile, encoding: .utf8)
        try FileManager.default.removeItem(at: processFile)
        Foundation.kill(try #require(pid_t(text)), SIGKILL)
        await running?.value
    }

    private static func serve(_ path: String, _ port: UInt16) async {
        let parent = getppid()
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        var options = LocalFirebaseOptions()
        options.project = project
        options.port = port
        options.folder = folder.appendingPathComponent("data", isDirectory: true)
        options.allowsEverything = true
        do {
            let firebase = try LocalFirebase(options)
            try Data("\(getpid())".utf8).write(to: folder.appendingPathComponent("process"), options: .atomic)
            // Until it is killed; a test process that is gone cannot do that any more.
            while getppid() == parent { try await Task.sleep(for: .milliseconds(200)) }
            await firebase.stop()
        } catch {
            Issue.record(error)
        }
    }

    /// A device that keeps a queue of writes and uses a ledger.
    func client() async throws -> any StorageClient {
        let configuration = FirebaseConfiguration(
            project: Self.project, apiKey: "test", writeLedger: "ledger",
            emulators: FirebaseConfiguration.Emulators(firestore: "127.0.0.1:\(port)"), usesEmulatorVariables: false)
        return try await FirebaseModule(configuration, environment: [:]) { CurlTransport() }.makeStorageClient(.init())
    }
}
