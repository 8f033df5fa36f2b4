// What the pages of the documentation take for granted. Only type-checked.
/// Stands for a value that a page has from somewhere. Never called: no page is run.
func given<Value>() -> Value { fatalError("pages are only type-checked") }

let backend: Infrastructure = given()
let factory: InfrastructureFactory = given()
let storage: any StorageClient = given()
let auth: any AuthClient = given()
let files: any FileStorageClient = given()
let messaging: any MessagingClient = given()
let user: AuthUser = given()
let userID = "alice"
let id = "1"
let email = "alice@example.com"
let password: Secret = "a long one"
let key: Secret = "key"
let url = URL(fileURLWithPath: "/tmp/configuration.json")
let folder = URL(fileURLWithPath: "/tmp/state")
let photo = URL(fileURLWithPath: "/tmp/photo.jpg")
let destination = URL(fileURLWithPath: "/tmp/copy")

func show(_ items: Any...) {}
func show(_ items: Any, isCached: Bool, isSaving: Bool) {}
func show(_ items: Any..., opened: Bool) {}
func log(_ items: Any...) {}
func consume(_ item: Any) {}

func showLaunchScreen() {}
func showHome(of user: AuthUser) {}
func showSignIn() {}
func askAgain(_ user: AuthUser) {}
func ask(for challenge: SecondFactorChallenge) {}
