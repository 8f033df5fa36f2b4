// A whole app, as the documentation of SwitchyardObservation shows it. `.ci/apple` compiles it as a module of its own.
import SwiftUI
import Switchyard
import SwitchyardMock
import SwitchyardObservation

@main struct TodoApp: App {
    /// There at once; its clients start when they are first used.
    static let backend = Infrastructure.deferred(.mock)

    var body: some Scene {
        WindowGroup { FirstScreen(backend: Self.backend) }.backend(Self.backend)
    }
}

struct FirstScreen: View {
    let backend: Infrastructure
    @State private var session: Session

    init(backend: Infrastructure) {
        self.backend = backend
        _session = State(wrappedValue: Session(backend.auth))
    }

    var body: some View {
        if session.user == nil { SignIn(auth: backend.auth) } else { Todos(auth: backend.auth) }
    }
}

struct SignIn: View {
    let auth: any AuthClient
    @State private var error: AuthError?

    var body: some View {
        VStack {
            Button("Continue without an account") { signIn() }
            if let error { Text(error.errorDescription ?? error.message) }
        }
    }

    private func signIn() {
        Task {
            do throws(AuthError) { _ = try await auth.signInAnonymously() } catch { self.error = error }
        }
    }
}

struct Todo: Codable, Sendable {
    @DocumentID var id: String
    var title: String
    var done = false
}

struct Todos: View {
    let auth: any AuthClient
    @Live(CollectionPath("todos").of(Todo.self).where { $0.done == false }) private var open
    @State private var title = ""

    var body: some View {
        VStack {
            TextField("New", text: $title)
            Button("Add") { add() }
            List(open) { row in Toggle(row.value.title, isOn: $open.binding(row, \.done)) }
            if let error = $open.error ?? $open.editError { Text(error.errorDescription ?? error.message) }
            Button("Sign out") { signOut() }
        }
        .refreshable { await $open.refresh() }
    }

    private func add() {
        $open.add(Todo(id: "", title: title))
        title = ""
    }

    private func signOut() {
        Task { try? await auth.signOut() }
    }
}
