// A service for an app: it checks the tokens of requests, acts for whoever sends them, and does a job for everybody at night.
import Foundation
import LocalProjects
import Switchyard

let projects = try await LocalProjects.start()
print("running on \(projects.description)")
let backend = try await projects.makeServer()
let verifier = try await backend.tokenVerifier()

/// What a request gets, as whoever has sent it.
@Sendable func answer(_ request: SmallRequest) async -> SmallAnswer {
    do {
        let caller = try await verifier.verify(authorization: request.headers["authorization"])
        let mine = try await backend.acting(as: caller)
        let notes = mine.storage.collection("users").document(caller.userID).collection("notes")
        switch (request.method, request.path) {
        case ("GET", "/notes"):
            let texts = try await notes.documents().documents.compactMap { $0["text"]?.stringValue }
            return SmallAnswer(200, texts.sorted().joined(separator: ", "))
        case ("POST", "/notes"):
            try await notes.add(["text": .of(request.body)])
            return SmallAnswer(201, "kept")
        case ("GET", "/somebody-elses"):
            _ = try await mine.storage.documents(Query(in: "users/\(request.body)/notes"))
            return SmallAnswer(200, "this should not be")
        default: return SmallAnswer(404, "There is nothing at \(request.path).")
        }
    } catch let error as any ClientError {
        // The text may speak of this server's own set-up, and is for its log.
        return SmallAnswer(status(of: error), error.code.rawValue)
    } catch {
        return SmallAnswer(500, "unexpected")
    }
}

/// What a failure is to whoever has sent the request.
@Sendable func status(of error: any ClientError) -> Int {
    switch error.code {
    case .unauthenticated, .malformedToken, .invalidSignature, .wrongProject, .tokenExpired, .tokenNotYetValid,
        .tokenRevoked, .userDisabled:
        401
    case .unauthorized: 403
    case .notFound: 404
    case .invalidArgument: 400
    case .deadlineExceeded: 504
    default: error.isRetryable ? 503 : 500
    }
}

let server = try SmallServer(answer)

// Two people with the app, and somebody without.
var people: [(name: String, app: Infrastructure, token: String)] = []
for name in ["alice", "bob"] {
    let app = try await projects.makeListeningDevice()
    _ = try await app.auth.signUp(email: "\(name)@example.com", password: "correct horse battery").get()
    people.append((name, app, try await app.auth.accessToken().value.reveal()))
}
for person in people {
    let kept = await server.ask("POST", "/notes", person.token, body: "a note of \(person.name)")
    let list = await server.ask("GET", "/notes", person.token)
    print("\(person.name): \(kept.status) \(kept.text), then \(list.status) \(list.text)")
}
let nobody = await server.ask("GET", "/notes", nil)
print("nobody: \(nobody.status) \(nobody.text)")
let forged = await server.ask("GET", "/notes", people[0].token + "x")
print("a forged token: \(forged.status) \(forged.text)")

// At night: everybody's notes, in the name of the project itself, and a queue of work that comes of them.
struct Reminder: Codable, Sendable {
    var text: String
}
let project = try await backend.actingAsProject()
let reminders = WorkQueue("reminders", on: project.storage, of: Reminder.self)
try await project.storage.forEachDocument(Query(group: "notes"), parallel: 4) { note in
    try await reminders.add(Reminder(text: note["text"]?.stringValue ?? ""), id: note.id)
}
let worker = Task {
    try await reminders.run(parallel: 2) { job in print("reminding of \(job.payload.text)") }
}
while try await reminders.count() > 0 { try await Task.sleep(for: .milliseconds(50)) }
worker.cancel()
try await worker.value

// Whoever has the app open is told. Nothing is kept for those who listen later.
let listener = people[0].app.messaging
try await listener.subscribe(to: "reminders")
let messages = await listener.messageStream().begun()
try await backend.messageSender().send(OutgoingMessage(to: .topic("reminders"), title: "all reminders are out"))
for try await message in messages {
    print("\(people[0].name) is told: \(message.title ?? "nothing")")
    break
}

let admin = try await backend.admin()
for try await page in admin.accountPages() { print("\(page.accounts.count) accounts") }

server.stop()
for person in people { await person.app.shutDown() }
await backend.shutDown()
await projects.stop()
