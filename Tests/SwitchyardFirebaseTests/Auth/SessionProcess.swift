import Foundation
import Switchyard
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// Another process with the session file of a test: refreshes as it is told, and writes down what it got.
struct SessionProcess: Codable, Sendable {
    enum Task: String, Codable {
        /// One token, at the moment the test says; the one it has is old.
        case refreshOnce
        /// New tokens without end, until nobody is signed in any more.
        case refreshUntilSignedOut
    }

    let task: Task
    let folder: String
    let host: String
    let project: String
    /// How far its clock is ahead, in seconds.
    var ahead: Int64 = 0

    private var home: URL { URL(fileURLWithPath: folder, isDirectory: true) }
    var stateFolder: URL { home.appendingPathComponent("state", isDirectory: true) }
    private var reportFile: URL { home.appendingPathComponent("report") }
    var goFile: URL { home.appendingPathComponent("go") }
    /// The number of the sign-in that counts, written when it has been made.
    var currentFile: URL { home.appendingPathComponent("current") }

    /// Lines such as `ready`, `token 3 abc` (whose, and which) and `out`.
    var reports: [[String]] {
        let text = (try? String(contentsOf: reportFile, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    func reports(of kind: String) -> [[String]] { reports.filter { $0.first == kind } }

    func client(transport: any Transport = CurlTransport()) throws -> FirebaseAuthAdapter {
        let configuration = FirebaseConfiguration(
            project: project, apiKey: "any", emulators: .init(auth: host), usesEmulatorVariables: false)
        let ahead = ahead
        return try FirebaseAuthAdapter(
            FirebaseModule(configuration, environment: [:]) { transport }.surroundings(
                ModuleContext(
                    now: { Timestamp(microseconds: Timestamp(Date()).microseconds + ahead * 1_000_000) },
                    stateFolder: stateFolder)))
    }

    // MARK: In the other process

    func run() async {
        let descriptor = open(reportFile.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        func report(_ line: String) {
            // One call, so that a line is there whole or not at all.
            let bytes = Array((line + "\n").utf8)
            _ = write(descriptor, bytes, bytes.count)
        }
        do {
            let transport = CountingTransport()
            let client = try client(transport: transport)
            switch task {
            case .refreshOnce:
                report("ready")
                try await eventually("the test says go", within: .seconds(30)) {
                    FileManager.default.fileExists(atPath: goFile.path)
                }
                let token = try await client.accessToken()
                report("token \(token.userID) \(token.value.reveal().suffix(40))")
                report("refreshes \(transport.refreshes)")
            case .refreshUntilSignedOut: try await refresh(client, report)
            }
            await client.shutDown()
        } catch {
            report("failed \(error)")
        }
    }

    private func refresh(_ client: FirebaseAuthAdapter, _ report: (String) -> Void) async throws {
        let parent = getppid()
        while getppid() == parent {
            let before = (try? String(contentsOf: currentFile, encoding: .utf8)) ?? "0"
            do throws(AuthError) {
                let token = try await client.accessToken(refreshing: true)
                report("token \(token.userID) \(before)")
            } catch {
                switch error.code {
                case .notSignedIn: break
                // Somebody else signed in meanwhile.
                case .sessionChanged: continue
                default: throw error
                }
                // Nothing that was under way may bring it back.
                for _ in 0..<20 {
                    if await client.state.isSignedIn { return report("failed: signed in again") }
                    await Swift.Task.yield()
                }
                return report("out")
            }
        }
    }
}
