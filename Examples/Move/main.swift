// Documents move from one backend to another while an app goes on writing and watching, and back halfway.
import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardMock
import SwitchyardMove

// The old backend is a local Firebase, the new one a project in memory.
var options = LocalFirebaseOptions()
options.allowsEverything = true
let server = try LocalFirebase(options)
var firebase = FirebaseConfiguration(project: server.project, apiKey: "any", writeLedger: "ledger")
firebase.emulators = .init(firestore: server.host, auth: server.host)
let project = MockBackend()

// The app: its storage stands for both.
let factory = InfrastructureFactory(
    FirebaseModule(firebase), MockModule(backend: project),
    MovingModule(from: FirebaseModule(firebase), to: MockModule(backend: project), name: "example"))
var selection = InfrastructureSelection(default: .mock)
selection.storage = .moving
selection.omit(.files)
let app = try await factory.make(selection)
try await app.storage.setDocument("counters/visits", ["n": 0]).acknowledged()

let writing = Task {
    var count = 0
    while !Task.isCancelled {
        // In a task of its own, so that a write that has begun is not cancelled.
        try await Task { _ = try await app.storage.updateDocument("counters/visits", ["n": .increment(1)]) }.value
        count += 1
        // A write every ten milliseconds.
        try? await Task.sleep(for: .milliseconds(10))
    }
    return count
}
let watching = Task {
    var last: Int64 = -1
    for try await document in app.storage.snapshots(of: "counters/visits") {
        let n = document["n"]?.integerValue ?? 0
        if n / 50 > last / 50 { print("the app sees \(n / 50 * 50) visits") }
        last = n
    }
}

// The process that moves, with the projects' own credentials.
let old = try await Infrastructure(FirebaseModule(firebase))
let new = try await project.infrastructure()
let journal = FileManager.default.temporaryDirectory.appendingPathComponent("example-move-\(UUID())")
var live = try LiveMove(
    from: try await BackendEnd(old, name: "local Firebase"), to: try await BackendEnd(new, name: "memory"),
    name: "example", journal: journal)
live.quietPeriod = .seconds(1)
let moving = live
let process = Task { try await moving.run() }
for phase in [MovePhase.dualWrite, .shadowRead, .cutOver, .shadowRead, .cutOver] {
    try await moving.reach(phase)
    print("phase \(phase.rawValue): the \(phase.serving) side serves")
    // So that there is something to see.
    try await Task.sleep(for: .milliseconds(300))
}

// Every visit is on both sides.
writing.cancel()
let visits = try await writing.value
try await app.storage.waitForPendingWrites()
try await moving.waitUntilCarried()
for side in [old, new] {
    let document = try await side.actingAsProject().storage.document("counters/visits")
    print("\(visits) visits, \(document["n"]?.integerValue ?? 0) on \(await side.selection.default)")
}
try await moving.request(.done)
try await process.value
print("done: \(try await moving.status().phase)")
watching.cancel()
for backend in [app, old, new] { await backend.shutDown() }
await server.stop()
try? FileManager.default.removeItem(at: journal)
