"""What people see of a server: `login`, `views`, `links` and `forms` for administrators, `inbox_page` for mediators, in one
`layout`; `live` keeps pages up to date.
"""
