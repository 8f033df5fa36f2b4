// Begins the function around each example in a doc comment: what examples take for granted beside Prelude.swift.
struct Todo: Codable, Sendable, Identifiable {
    @DocumentID var id: String?; var title = ""; var done = false;
    var priority = 0, tags: [String] = [], created = Date(); var due: Date?
}
struct Note: Codable, Sendable { @DocumentID var id: String?; var text = "" }
struct Profile: Codable, Sendable { var name = "" }
struct Order: Codable, Sendable { var note = "" }
struct Mail: Codable, Sendable { var to = "", text = "" }
struct Request { var headers: [String: String] }
struct Response {}
final class Counter: Sendable { func increment() {} }
struct TokenServer {
    struct Answer { var token = "", expiresAt = Date() };
    func token(for session: Secret) async throws -> Answer { given() }
}
struct Product { var id = ""; var fields: WriteFields = [:] }
let rows: [Product] = []
func route(_ state: AuthState) {}
func report(_ accounts: [ManagedAccount]) {}
@Sendable func kept() throws -> ScanPlace? { nil }
@Sendable func archive(_ order: DocumentSnapshot) async throws {}
@Sendable func keep(_ place: ScanPlace) async throws {}
let request: Request = given(), headers: [String: String] = given()
let todos: TypedCollection<Todo> = given(), todo: Todo = given(), query: Query = given()
let users: TypedCollection<Profile> = given(), orders: Query = given(), myServer: TokenServer = given()
let project: ActingClients = given(), receipt: WriteReceipt = given(), caller: VerifiedToken = given()
let verifier: any TokenVerifier = given(), context: ModuleContext = given()
let entered = "123456", text = "Hello", friend = "bob"
let googleServices = URL(fileURLWithPath: "/tmp/google-services.json"), token: PlatformPushToken = given()
@Sendable func send(_ mail: Mail) async throws {}
func invite(_ friend: String) async throws {}
func answer(_ request: Request, for caller: VerifiedToken) async throws -> Response { Response() }
