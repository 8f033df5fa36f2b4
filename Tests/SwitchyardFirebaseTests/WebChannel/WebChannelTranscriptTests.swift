import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardSync
import SwitchyardTestSupport
import SwitchyardWire
import Synchronization
import Testing

@testable import SwitchyardFirebase

/// The machine against what the real Firestore emulator once sent, cut exactly as the network cut it.
@Suite struct WebChannelTranscriptTests {
    static let names = ["listen", "refused-target", "stream-error"]

    @Test(arguments: names) func `A recorded session is repeated byte for byte`(_ name: String) throws {
        let transcript = try WebChannelTranscript(name)
        var machine = WebChannelMachine(
            database: transcript.database, headers: transcript.headers, firstRequestID: transcript.firstRequestID)
        #expect(transcript.steps.count > 4)
        for (number, step) in transcript.steps.enumerated() {
            let actions = machine.handle(step.event).map(WebChannelTranscript.json)
            #expect(actions == step.actions, "step \(number) of \(name)")
        }
    }

    @Test(arguments: names) func `A recorded session is the same, cut anywhere else`(_ name: String) throws {
        let transcript = try WebChannelTranscript(name)
        let wanted = Self.delivered(transcript.steps.flatMap(\.actions))
        #expect(!wanted.isEmpty || name == "stream-error")
        for size in [1, 7, 4096, 1 << 20] {
            var machine = WebChannelMachine(
                database: transcript.database, headers: transcript.headers,
                firstRequestID: transcript.firstRequestID)
            var actions: [JSON] = []
            for step in transcript.steps {
                guard case .backChannelBytes(let bytes) = step.event else {
                    actions += machine.handle(step.event).map(WebChannelTranscript.json)
                    continue
                }
                for start in stride(from: 0, to: bytes.count, by: size) {
                    let piece = Array(bytes[start..<min(start + size, bytes.count)])
                    actions += machine.handle(.backChannelBytes(piece)).map(WebChannelTranscript.json)
                }
            }
            #expect(Self.delivered(actions) == wanted, "pieces of \(size)")
        }
    }

    @Test func `Each recorded message is understood`() throws {
        for name in Self.names {
            let transcript = try WebChannelTranscript(name)
            let project = transcript.database.split(separator: "/")[1]
            let database = FirestoreDatabase(project: String(project))
            for message in Self.delivered(transcript.steps.flatMap(\.actions)) {
                let response = try FirestoreListenResponse(firestore: message, in: database)
                #expect(
                    try FirestoreListenResponse(firestore: response.firestore(in: database), in: database) == response)
            }
        }
    }

    private static func delivered(_ actions: [JSON]) -> [JSON] {
        actions.filter { $0["do"] == "deliver" }.compactMap { $0["message"] }
    }

    // MARK: Recording

    /// Records again when `SWITCHYARD_RECORD` is set; otherwise checks that the recording exists.
    @Test func `The transcripts can be recorded on the real emulator`() async throws {
        guard ProcessInfo.processInfo.environment["SWITCHYARD_RECORD"] != nil, FirestoreEmulator.isInstalled else {
            for name in Self.names {
                #expect(FileManager.default.fileExists(atPath: WebChannelTranscript.url(name).path))
            }
            return
        }
        let site = try await FirestoreSite()
        let service = try site.service()
        let text = "x" + String(repeating: "🎭漢é", count: 1_200)
        _ = try await service.commit([.set("cities/ulm", ["pop": 126, "text": .of(text)])])

        try await record("listen", service) { watch, seen in
            watch.send(.add(TargetRequest(id: 2, target: .query(Query(in: "cities")))))
            try await seen("CURRENT", 1)
            watch.send(.add(TargetRequest(id: 4, target: .document("cities/none"))))
            try await seen("CURRENT", 2)
            _ = try await service.commit([.set("cities/köln 🎭", ["pop": 1087, "field with space": "`"])])
            try await seen("RESET", 1)
            try await seen("CURRENT", 3)
            watch.send(.remove(2))
            try await seen("REMOVE", 1)
        }
        try await record("refused-target", service) { watch, seen in
            watch.send(
                .add(
                    TargetRequest(id: 2, target: .query(Query(in: "cities").ordered(by: .documentID, .descending))))
            )
            watch.send(.add(TargetRequest(id: 4, target: .document("cities/ulm"))))
            try await seen("REMOVE", 1)
            try await seen("CURRENT", 1)
        }
        try await record("stream-error", service) { watch, seen in
            watch.send(.add(TargetRequest(id: 2, target: .document("cities/none"))))
            try await seen("CURRENT", 1)
            watch.send(.add(TargetRequest(id: 2, target: .document("cities/ulm"))))
            try await seen("\"close\"", 1)
        }
        await service.transport.shutDown()
    }

    private func record(
        _ name: String, _ service: FirestoreService,
        _ body: (FirestoreWatch, (String, Int) async throws -> Void) async throws -> Void
    ) async throws {
        let lines = Lines()
        let headers = [("X-Goog-Api-Client", "gl-swift/ fire/1.0")]
        let channel = WebChannel(
            service.endpoint.address + "/google.firestore.v1.Firestore/Listen/channel",
            database: service.database.name, credentials: headers, transport: service.transport
        ) { lines.append(WebChannelTranscript.line($0, $1)) }
        let watch = FirestoreWatch(service.database, channel, StreamRefusal())
        let reading = Task { while try await watch.next() != nil {} }
        try await body(watch) { mark, count in
            try await eventually("\(mark) is seen", within: .seconds(10)) { lines.count(of: mark) >= count }
        }
        // What is still on its way belongs to it, and only quiet says that nothing is. Recording alone waits here.
        try await Task.sleep(for: .milliseconds(300))
        watch.close()
        _ = await reading.result
        try await eventually("the end is recorded", within: .seconds(5)) { lines.count(of: "\"close\"") > 0 }
        let first = lines.all.first ?? ""
        let id = first.split(separator: "RID=").dropFirst().first?.prefix { $0.isNumber } ?? ""
        let head = WebChannelTranscript.head(
            database: service.database.name, headers: headers, firstRequestID: Int(id) ?? 0)
        let all = ([head] + lines.all).joined(separator: "\n") + "\n"
        try Data(all.utf8).write(to: WebChannelTranscript.url(name))
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func append(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
        /// In how many actions `mark` occurs.
        func count(of mark: String) -> Int {
            all.reduce(0) {
                $0 + $1.split(separator: "\"actions\":", maxSplits: 1).last!.split(separator: mark).count - 1
            }
        }
    }
}
