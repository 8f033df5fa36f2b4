// What an app does with the printed file.
import Sharing
import Switchyard

nonisolated struct Todo: Codable, Sendable, Equatable {
    var title: String
    var done = false
}

struct Lists: Equatable {
    @SharedReader(.query("todos")) var todos: [Todo]
    @SharedReader(.query("todos", { $0.where(\.done, .equal, false).limited(to: 20) })) var open: [Todo]
    @SharedReader(.query("archive", of: Todo.self)) var archive
}

func reader(of storage: any StorageClient, for owner: String) async throws -> [Todo] {
    let path: CollectionPath = "users/\(owner)/todos"
    @SharedReader(.query(storage.collection(path, of: Todo.self))) var todos: [Todo]
    try await $todos.load()
    if let error = $todos.loadError { throw error }
    $todos = SharedReader(.query(storage.collection("todos", of: Todo.self).where(\.done, .equal, true)))
    return todos
}
