package import Foundation
package import Switchyard
package import SwitchyardWire

/// What another process does with the session that it shares with a test.
package enum SessionJob: String, Codable, Sendable {
    /// One token, at the moment the test says; the one it has is old.
    case refreshOnce
    /// New tokens without end, until no user is signed in any more.
    case refreshUntilSignedOut
    /// New tokens without end, until the test says that it is enough.
    case refreshUntilStopped
}

/// Another process with the session file of a test: refreshes as it is told, and writes down what it got.
package struct SessionProcess<Vendor: SessionVendor>: Codable, Sendable {
    package let job: SessionJob
    package let vendor: Vendor
    package let folder: String
    /// How far its clock is ahead, in seconds.
    package var ahead: Int64

    private var home: URL { URL(fileURLWithPath: folder, isDirectory: true) }
    private var reportFile: URL { home.appendingPathComponent("report") }
    /// Written by the test to give the sign.
    package var goFile: URL { home.appendingPathComponent("go") }
    /// The number of the sign-in that counts, written when it has been made.
    package var currentFile: URL { home.appendingPathComponent("current") }

    /// Lines such as `ready 123` (its process), `token 3 abc` (whose, and which) and `out`.
    package var reports: [[String]] {
        let text = (try? String(contentsOf: reportFile, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    package func reports(of kind: String) -> [[String]] { reports.filter { $0.first == kind } }

    package func client(over transport: any Transport = CurlTransport()) throws -> any AuthClient {
        let ahead = ahead
        return try vendor.client(
            ModuleContext(
                now: { Timestamp(microseconds: Timestamp(Date()).microseconds + ahead * 1_000_000) },
                stateFolder: home.appendingPathComponent("state", isDirectory: true)),
            over: transport)
    }

    // MARK: In the other process

    private var mayGo: Bool { FileManager.default.fileExists(atPath: goFile.path) }

    package func run() async {
        let descriptor = open(reportFile.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(descriptor) }
        func report(_ line: String) {
            // One call, so that a line is there whole or not at all.
            let bytes = Array((line + "\n").utf8)
            _ = write(descriptor, bytes, bytes.count)
        }
        do {
            let transport = CountingTransport(CurlTransport(), counting: Vendor.refreshMark)
            let client = try client(over: transport)
            report("ready \(getpid())")
            switch job {
            case .refreshOnce:
                try await eventually("the test says go", within: .seconds(30)) { mayGo }
                let token = try await client.accessToken()
                report("token \(token.userID) \(token.value.reveal().suffix(40))")
                report("refreshes \(transport.count)")
            case .refreshUntilSignedOut: try await refresh(client, report)
            case .refreshUntilStopped: try await refreshUntilStopped(client, report)
            }
            await client.shutDown()
        } catch {
            report("failed \(error)")
        }
    }

    private func refreshUntilStopped(_ client: any AuthClient, _ report: (String) -> Void) async throws {
        let parent = getppid()
        while !mayGo, getppid() == parent {
            do throws(AuthError) {
                report("token \(try await client.accessToken(refreshing: true).userID)")
            } catch {
                // An answer that got lost; whatever else fails is not forgiven.
                guard error.isRetryable else { throw error }
                report("lost")
            }
            // Leases are not handed on in the order of asking: who asks again at once leaves no one a turn.
            try await Task.sleep(for: .milliseconds(5))
        }
        report("done \(await client.state.isSignedIn)")
    }

    private func refresh(_ client: any AuthClient, _ report: (String) -> Void) async throws {
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
                    await Task.yield()
                }
                return report("out")
            }
        }
    }
}
