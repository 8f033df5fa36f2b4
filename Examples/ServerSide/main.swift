// A service for an app: it checks the tokens of requests, acts for their senders, and runs a nightly job for all users.
import Foundation
import LocalProjects
import Switchyard

let projects = try await LocalProjects.start()
print("running on \(projects.description)")
let backend = try await projects.makeServer()
let verifier = try await backend.tokenVerifier()

/// Answers a request on behalf of its sender.
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
        // The message may mention this server's set-up, so it is for the log.
        return SmallAnswer(status(of: error), error.code.rawValue)
    } catch {
        return SmallAnswer(500, "unexpected")
    }
}

/// The HTTP status for an error.
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

// Two users of the app, and a caller without a token.
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
let signedOut = await server.ask("GET", "/notes", nil)
print("signed out: \(signedOut.status) \(signedOut.text)")
let forged = await server.ask("GET", "/notes", people[0].token + "x")
print("a forged token: \(forged.status) \(forged.text)")

// At night: everybody's notes, on behalf of the project, and a work queue made from them.
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

// Notifies users who have the app open. Nothing is saved for later listeners.
let listener = people[0].app.messaging
try await listener.subscribe(to: "reminders")
let messages = await listener.messageStream().begun()
try await backend.messageSender().send(OutgoingMessage(to: .topic("reminders"), title: "all reminders are out"))
for try await message in messages {
    print("\(people[0].name) is notified: \(message.title ?? "nothing")")
    break
}

let admin = try await backend.admin()
for try await page in admin.accountPages() { print("\(page.accounts.count) accounts") }

server.stop()
for person in people { await person.app.shutDown() }
await backend.shutDown()
await projects.stop()
