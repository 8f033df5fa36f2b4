// What a server does with the printed file.
import Switchyard
import Vapor

func routes(_ app: Application, on backend: Infrastructure) async throws {
    let members = app.grouped(try await CallerMiddleware(backend, timeout: .seconds(5), checksRevocation: true))
    members.get("orders") { request in
        try await request.acting.storage.documents(Query(in: "orders")).documents.map(\.id)
    }
    members.get("name") { request in try await request.acting.users.currentUser().displayName ?? "" }
}
