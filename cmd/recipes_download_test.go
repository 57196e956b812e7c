//go:build unix

package cmd_test

func downloadRecipes() []recipeTest {
	return []recipeTest{
		{
			title: "Fetch all pages of a list, as fast as the server allows",
			servers: map[string]string{"https://api.example.com": `
				/items: 200 body='[{"id": 1}]' header='Link: </items/2>; rel="next"'
				/items/2: 429 retry-after=1, 200 body='[{"id": 2}]' header='Link: </items/3>; rel="next"'
				/items/3: 200 body='[{"id": 3}]'`},
			checks: map[string][]string{"https://api.example.com": {"requests=4"}},
			stdout: `^\[\{"id": 1\},\{"id": 2\},\{"id": 3\}\]\n$`,
		},
		{
			title: "Download and verify over a line that cuts",
			servers: map[string]string{
				"https://downloads.example.com": `200 size=3MB etag='"v1"' ranges truncate=1MB x2, 200 size=3MB etag='"v1"' ranges`,
			},
			files:  map[string]string{"SHA256SUMS": "01cf2b46463cc598b1525a2ff6c8e7bed6c524a3324024cb5f5741ef3c19e099  tool.tar.gz\n"},
			checks: map[string][]string{"https://downloads.example.com": {"requests=3"}},
			stdout: "^tool.tar.gz\n$",
		},
	}
}
