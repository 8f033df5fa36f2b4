import Foundation
package import Switchyard
import SwitchyardWire

/// One session file that this process shares with another one, which a test starts: what they do to each other, told as it
/// was seen.
package final class SharedSession<Vendor: SessionVendor> {
    /// Runs a process to its end, or until it is killed.
    package typealias Launch = @Sendable (SessionProcess<Vendor>, _ isKilled: Bool) async -> Void

    private let vendor: Vendor
    private let launch: Launch
    private let folder = ScratchSpace.url.appendingPathComponent("sessions-\(UUID().uuidString)")
    private var running: Task<Void, Never>?

    package init(_ vendor: Vendor, launch: @escaping Launch) throws {
        self.vendor = vendor
        self.launch = launch
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    package func process(_ job: SessionJob, ahead: Int64 = 0) -> SessionProcess<Vendor> {
        SessionProcess(job: job, vendor: vendor, folder: folder.path, ahead: ahead)
    }

    package func start(_ process: SessionProcess<Vendor>, isKilled: Bool = false) {
        running = Task { [launch] in await onSpareThreads { await launch(process, isKilled) } }
    }

    /// Waits for the end of the process.
    package func ended() async { await running?.value }

    // MARK: What is seen

    package struct OneRefresh {
        package let here: AccessToken
        package let other: [[String]]
        /// Of both together.
        package let refreshes: Int
    }

    /// Both need a token at the same moment, and the one they have is old.
    package func needTokenAtOnce() async throws -> OneRefresh {
        let before = try process(.refreshOnce).client()
        try await before.signUp(email: "alice@example.com", password: "secret")
        await before.shutDown()
        let other = process(.refreshOnce, ahead: 4000)
        start(other)
        try await eventually("the other process is ready") { other.reports.last?.first == "ready" }
        let transport = CountingTransport(CurlTransport(), counting: Vendor.refreshMark)
        let here = try other.client(over: transport)
        try Data().write(to: other.goFile)
        let token = try await here.accessToken()
        await ended()
        await here.shutDown()
        let elsewhere = other.reports(of: "refreshes").first?.last.flatMap { Int($0) } ?? -1
        return OneRefresh(here: token, other: other.reports(of: "token"), refreshes: transport.count + elsewhere)
    }

    package struct Leaving {
        package let other: [[String]]
        package let here: AuthState
        /// By the file alone.
        package let later: AuthState
    }

    /// This process signs out while the other one refreshes for the `number`th time, and it does itself too.
    package func signOutWhileRefreshing(_ number: Int) async throws -> Leaving {
        let other = process(.refreshUntilSignedOut)
        let here = try other.client()
        try await here.signUp(email: "alice\(number)@example.com", password: "secret")
        start(other)
        try await eventually("it refreshes") { other.reports(of: "token").count > number }
        async let own: Void = { _ = try? await here.accessToken(refreshing: true) }()
        try await here.signOut()
        await own
        await ended()
        let later = try other.client()
        let seen = await Leaving(other: other.reports, here: here.state, later: later.state)
        for client in [here, later] { await client.shutDown() }
        return seen
    }

    package struct Turns {
        package let other: [[String]]
        /// Whose the other's tokens were, and who had signed in before it asked: by their number.
        package let tokens: [(user: Int, before: Int)]
    }

    /// People sign in one after the other in this process, while the other one refreshes.
    package func signInWhileRefreshing(_ count: Int) async throws -> Turns {
        let other = process(.refreshUntilSignedOut)
        let here = try other.client()
        var users: [String] = []
        for number in 0..<count {
            let user = try await here.signUp(email: "u\(number)@example.com", password: "secret").get()
            users.append(user.id)
            try Data("\(number)".utf8).write(to: other.currentFile, options: .atomic)
            if number == 0 { start(other) }
            try await eventually("it has the new user's tokens") {
                other.reports(of: "token").contains { $0[1] == user.id }
            }
        }
        try await here.signOut()
        await ended()
        await here.shutDown()
        let tokens = other.reports(of: "token").map { (users.firstIndex(of: $0[1]) ?? -1, Int($0[2]) ?? .max) }
        return Turns(other: other.reports, tokens: tokens)
    }
}
