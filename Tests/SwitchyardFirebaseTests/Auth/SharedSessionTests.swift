import Foundation
import Switchyard
import SwitchyardEmulator
import SwitchyardTestSupport
import Testing

@testable import SwitchyardFirebase

/// Two real processes on one session file, while a real server answers: this one, and one that it starts.
///
/// Not more: a process that is waited for holds one of the few threads that tasks share.
@Suite struct SharedSessionTests {
    private final class Site {
        let firebase: LocalFirebase
        let folder = ScratchSpace.url.appendingPathComponent("sessions-\(UUID().uuidString)")
        private var running: Task<Void, Never>?

        init() throws {
            firebase = try LocalFirebase()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func process(_ task: SessionProcess.Task, ahead: Int64 = 0) -> SessionProcess {
            SessionProcess(
                task: task, folder: folder.path, host: firebase.host, project: firebase.project, ahead: ahead)
        }

        func start(_ process: SessionProcess) {
            running = Task {
                await #expect(processExitsWith: .success) { [process = process as SessionProcess] in
                    await process.run()
                }
            }
        }

        func stop() async {
            await running?.value
            await firebase.stop()
        }
    }

    @Test func `Two processes whose token has run out cost one refresh`() async throws {
        let site = try Site()
        let before = try site.process(.refreshOnce).client()
        try await before.signUp(email: "alice@example.com", password: "secret")
        await before.shutDown()
        let other = site.process(.refreshOnce, ahead: 4000)
        site.start(other)
        try await eventually("the other process is ready") { other.reports.contains(["ready"]) }
        let transport = CountingTransport()
        let here = try other.client(transport: transport)
        try Data().write(to: other.goFile)
        let token = try await here.accessToken()
        await site.stop()
        #expect(other.reports(of: "token") == [["token", token.userID, String(token.value.reveal().suffix(40))]])
        let elsewhere = other.reports(of: "refreshes").first?.last.flatMap { Int($0) } ?? -1
        #expect(transport.refreshes + elsewhere == 1, "\(other.reports)")
        await here.shutDown()
    }

    @Test func `A sign-out while another process refreshes is final in both`() async throws {
        for round in 0..<4 {
            let site = try Site()
            let other = site.process(.refreshUntilSignedOut)
            let here = try other.client()
            try await here.signUp(email: "alice@example.com", password: "secret")
            site.start(other)
            try await eventually("it refreshes") { other.reports.count > 2 + round }
            // One of this process's own is under way too.
            async let own: Void = { _ = try? await here.accessToken(refreshing: true) }()
            try await here.signOut()
            await own
            await site.stop()
            #expect(other.reports.last == ["out"], "\(other.reports.suffix(3))")
            #expect(await here.state == .signedOut(SignOut(.byUser)))
            let later = try other.client()
            #expect(await !later.state.isSignedIn, "nothing in the file brings it back")
            for client in [here, later] { await client.shutDown() }
        }
    }

    @Test func `Whoever signs in takes the place of others in both processes, whatever is refreshed meanwhile`()
        async throws
    {
        let site = try Site()
        let other = site.process(.refreshUntilSignedOut)
        let here = try other.client()
        var users: [String] = []
        for number in 0..<8 {
            let user = try await here.signUp(email: "u\(number)@example.com", password: "secret")
            users.append(user.id)
            try Data("\(number)".utf8).write(to: other.currentFile, options: .atomic)
            if number == 0 { site.start(other) }
            try await eventually("it has the new user's tokens") {
                other.reports(of: "token").contains { $0[1] == user.id }
            }
        }
        try await here.signOut()
        await site.stop()
        #expect(other.reports.last == ["out"], "\(other.reports.suffix(3))")
        let tokens = other.reports(of: "token").map { (users.firstIndex(of: $0[1]) ?? -1, Int($0[2]) ?? .max) }
        #expect(tokens.map(\.0) == tokens.map(\.0).sorted(), "nobody comes back")
        #expect(tokens.allSatisfy { $0.0 >= $0.1 }, "a token that is asked for after a sign-in is the new user's")
        await here.shutDown()
    }
}
