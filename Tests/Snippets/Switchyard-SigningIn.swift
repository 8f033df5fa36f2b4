// What the page takes for granted.
let link = URL(fileURLWithPath: "/tmp/link")
let newEmail = "alice@example.org"
